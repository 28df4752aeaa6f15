-- KEYS and the place are those of take.lua.
-- ARGV: the nonce; the lease and the whole time of the place; the name of the key.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease, whole = tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = redis.call('HMGET', KEYS[1], 'n', 'e', 'r')
if kept[1] ~= ARGV[1] or kept[3] or tonumber(kept[2]) <= now then return 0 end
-- This write is first, because an engine without memory allows it and the later ones then.
redis.call('PEXPIRE', KEYS[1], whole)
redis.call('HSET', KEYS[1], 'l', now + lease, 'e', now + whole)
redis.call('ZADD', KEYS[2], now + whole, ARGV[4])
if redis.call('PTTL', KEYS[2]) < whole then redis.call('PEXPIRE', KEYS[2], whole) end
return 1
