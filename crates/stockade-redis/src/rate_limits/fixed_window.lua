-- A window begins with its first request, and refusals prolong nothing. A key that has
-- lost its expiry begins a window too, or its client would be locked out for good.
-- Fewer than `least` requests are not granted.
local limit, window, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local least = tonumber(ARGV[4])
local ttl = redis.call('PTTL', KEYS[1])
local used = ttl > 0 and tonumber(redis.call('GET', KEYS[1])) or 0
local granted = math.min(want, math.max(limit - used, 0))
if granted < least then
  granted = 0
end
if ttl <= 0 then
  redis.call('SET', KEYS[1], granted, 'PX', window)
  ttl = window
elseif granted > 0 then
  redis.call('INCRBY', KEYS[1], granted)
end
-- The quota of the request may have a shorter window.
if ttl > window then
  redis.call('PEXPIRE', KEYS[1], window)
  ttl = window
end
return {granted, used + granted, ttl}
