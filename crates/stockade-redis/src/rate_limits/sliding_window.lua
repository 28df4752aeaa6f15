-- The hash has the end of the window (e), its requests (c) and those of the window
-- before (p), of which a share counts. The clock is that of the engine, in microseconds.
-- Fewer than `least` requests are not granted.
local limit, window, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local least = tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kept = redis.call('HMGET', KEYS[1], 'e', 'c', 'p')
local e, c, p = tonumber(kept[1]), tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
if not e or now >= e + window then
  e, c, p = now + window, 0, 0
elseif now >= e then
  e, c, p = e + window, 0, c
end
-- The clock of a promoted replica may be behind, and the quota may have a shorter window.
e = math.min(e, now + window)
local left = e - now
local free = math.floor(limit - c - p * left / window)
local granted = math.min(want, math.max(free, 0))
if granted < least then
  granted = 0
end
if granted > 0 then
  c = c + granted
  redis.call('HSET', KEYS[1], 'e', e, 'c', c, 'p', p)
  redis.call('PEXPIRE', KEYS[1], math.ceil((left + window) / 1000))
end
return {granted, c, p, left}
