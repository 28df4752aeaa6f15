-- KEYS: the set of a subject. ARGV: the first part of the names of all sessions.
local ended = 0
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  ended = ended + redis.call('DEL', ARGV[1] .. name)
end
redis.call('DEL', KEYS[1])
return ended
