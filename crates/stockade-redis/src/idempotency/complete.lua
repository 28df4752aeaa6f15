-- KEYS and the place are those of take.lua.
-- ARGV: the nonce; the record and its time; the length up to which a record always has
-- room; the name of the key.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ttl = tonumber(ARGV[3])
local kept = redis.call('HMGET', KEYS[1], 'n', 'e', 'r')
if kept[1] ~= ARGV[1] or tonumber(kept[2]) <= now then return 0 end
if kept[3] then return 1 end
-- An engine without memory allows this write, and the later ones of the script then. Of a
-- long record it refuses the first one, and so all of them.
if #ARGV[2] <= tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ttl) end
redis.call('HSET', KEYS[1], 'r', ARGV[2], 'e', now + ttl)
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('ZADD', KEYS[2], now + ttl, ARGV[5])
if redis.call('PTTL', KEYS[2]) < ttl then redis.call('PEXPIRE', KEYS[2], ttl) end
return 1
