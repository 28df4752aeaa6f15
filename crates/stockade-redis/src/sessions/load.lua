-- KEYS: a session, as create.lua describes it.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'd', 'v', 's', 'e')
local idle = redis.call('PTTL', KEYS[1])
if not kept[1] or idle <= 0 or tonumber(kept[4]) <= now then return {} end
return {kept[1], tonumber(kept[2]), kept[3], idle, kept[4] - now}
