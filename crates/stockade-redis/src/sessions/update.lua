-- KEYS: a session, as create.lua describes it. ARGV: the version; the data; the idle time.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'v', 'e')
if not kept[1] or tonumber(kept[2]) <= now then return 2 end
if kept[1] ~= ARGV[1] then return 1 end
redis.call('HSET', KEYS[1], 'd', ARGV[2], 'v', kept[1] + 1)
redis.call('PEXPIRE', KEYS[1], math.min(tonumber(ARGV[3]), kept[2] - now))
return 0
