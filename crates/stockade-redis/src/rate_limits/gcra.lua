-- The key has the time at which all requests are back, in microseconds of the clock of
-- the engine. Each request moves it by one period.
local limit, window, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local period = math.ceil(window / limit)
local burst = period * limit
local back = math.max(tonumber(redis.call('GET', KEYS[1])) or 0, now)
-- The clock of a promoted replica may be behind.
back = math.min(back, now + burst)
local granted = math.min(want, math.floor((now + burst - back) / period))
if granted > 0 then
  back = back + granted * period
  redis.call('SET', KEYS[1], back, 'PX', math.ceil((back - now) / 1000))
end
return {granted, back - now}
