-- Adds entries to the log, each with the next number, unless it is there.
-- The last member is the counter: it has the last number, and a name that is new when
-- the log has lost its data.
local log, counter, number = KEYS[1], ARGV[1], 0
local ttl, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local last = redis.call('ZREVRANGE', log, 0, 0, 'WITHSCORES')
if last[1] then counter, number = last[1], tonumber(last[2]) end
-- The counter is no entry.
local room, left = most + 1 - redis.call('ZCARD', log), 0
if not last[1] then room = most end
for at = 4, #ARGV do
  if not redis.call('ZSCORE', log, ARGV[at]) then
    if room > 0 then
      number, room = number + 1, room - 1
      redis.call('ZADD', log, number, ARGV[at])
    else
      left = left + 1
    end
  end
end
redis.call('ZADD', log, number, counter)
if redis.call('PTTL', log) < ttl then redis.call('PEXPIRE', log, ttl) end
return left
