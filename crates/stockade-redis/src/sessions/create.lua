-- KEYS: the new session.
-- ARGV: the first part of the names of all sessions, and that of the sets of subjects; the
-- name of the session behind it; the data; the idle time and the lifetime; the subject and
-- the name of its set, or two empty texts; the largest number of sessions of a subject; the
-- name of the session that is replaced, or an empty text, and its version.
-- A session has its data (d), version (v), subject (s), the set of that (o) and the end of
-- its lifetime (e). The set of a subject has its sessions by that end. Times are
-- milliseconds of the engine's clock. All names have one hash tag.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local of_session, of_subject, name = ARGV[1], ARGV[2], ARGV[3]
local idle, lifetime = tonumber(ARGV[5]), tonumber(ARGV[6])
local subject, set, most = ARGV[7], ARGV[8], tonumber(ARGV[9])
local replaced, version = ARGV[10], ARGV[11]
local old
if replaced ~= '' then
  old = redis.call('HMGET', of_session .. replaced, 'v', 'o')
  if not old[1] then return 2 end
  if old[1] ~= version then return 1 end
end
-- An engine without memory refuses the first write, and so all of them.
redis.call('HSET', KEYS[1], 'd', ARGV[4], 'v', 1, 's', subject, 'o', set, 'e', now + lifetime)
redis.call('PEXPIRE', KEYS[1], math.min(idle, lifetime))
if old then
  redis.call('DEL', of_session .. replaced)
  if old[2] ~= '' then redis.call('ZREM', of_subject .. old[2], replaced) end
end
if set ~= '' then
  local sessions = of_subject .. set
  redis.call('ZREMRANGEBYSCORE', sessions, '-inf', now)
  if redis.call('ZCARD', sessions) >= most then
    -- Those that nobody used for long are gone, and the oldest of the others go.
    local live = {}
    for _, other in ipairs(redis.call('ZRANGE', sessions, 0, -1)) do
      if redis.call('EXISTS', of_session .. other) == 0 then
        redis.call('ZREM', sessions, other)
      else
        live[#live + 1] = other
      end
    end
    for number = 1, #live + 1 - most do
      redis.call('DEL', of_session .. live[number])
      redis.call('ZREM', sessions, live[number])
    end
  end
  redis.call('ZADD', sessions, now + lifetime, name)
  if redis.call('PTTL', sessions) < lifetime then redis.call('PEXPIRE', sessions, lifetime) end
end
return 0
