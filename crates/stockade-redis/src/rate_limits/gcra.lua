-- The key has the time at which all requests are back, in microseconds of the clock of
-- the engine, and the period of a request. Each request moves the time by one period.
-- Fewer than `least` requests are not granted.
local limit, window, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local least = tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local period = math.ceil(window / limit)
local burst = period * limit
local kept, known = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
local back = math.max(tonumber(kept) or 0, now)
known = tonumber(known) or period
-- Another quota applies: the number of requests that are not back stays.
if known ~= period then
  back = now + math.min(math.ceil((back - now) / known), limit) * period
end
-- The clock of a promoted replica may be behind.
back = math.min(back, now + burst)
local granted = math.min(want, math.floor((now + burst - back) / period))
if granted < least then
  granted = 0
end
if granted > 0 then
  back = back + granted * period
  local state = string.format('%.0f %.0f', back, period)
  redis.call('SET', KEYS[1], state, 'PX', math.ceil((back - now) / 1000))
end
return {granted, back - now}
