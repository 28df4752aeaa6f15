-- KEYS and the place are those of take.lua. ARGV: the nonce; the name of the key.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'n', 'e', 'r')
if kept[1] ~= ARGV[1] or kept[3] or tonumber(kept[2]) <= now then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[2])
return 1
