-- KEYS: a session, as create.lua describes it. ARGV: the first part of the names of the sets
-- of subjects; the name of the session in them.
local kept = redis.call('HMGET', KEYS[1], 'o')
if kept[1] and kept[1] ~= '' then redis.call('ZREM', ARGV[1] .. kept[1], ARGV[2]) end
return redis.call('DEL', KEYS[1])
