-- KEYS: a session, as create.lua describes it. ARGV: the idle time.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'e')
if not kept[1] or tonumber(kept[1]) <= now then return 0 end
return redis.call('PEXPIRE', KEYS[1], math.min(tonumber(ARGV[1]), kept[1] - now))
