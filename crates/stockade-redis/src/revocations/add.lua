-- Adds entries to the log, each with the next number, unless it is there. The last
-- member is the counter: it has the last number, and a name that is new when the log has
-- lost its data.
-- An entry for which there is no room gets a key of its own, with the later of both times
-- if it has one; a note in the log says so, which has a place beside those of entries.
-- Keys: the log, and that of each entry. Arguments: the name of a new counter, the life of
-- the log, its length, the note, and of each entry its bytes, its end, its time and the
-- life of its key.
local log, counter, number = KEYS[1], ARGV[1], 0
local ttl, most, note = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local last = redis.call('ZREVRANGE', log, 0, 0, 'WITHSCORES')
if last[1] then counter, number = last[1], tonumber(last[2]) end
-- The counter is no entry.
local room, beyond = most + 1 - redis.call('ZCARD', log), 0
if not last[1] then room = most end
for at = 2, #KEYS do
  local entry, ends, before, life = unpack(ARGV, 4 * at - 3, 4 * at)
  if redis.call('ZSCORE', log, entry) then
    -- It is there.
  elseif room > 0 then
    number, room = number + 1, room - 1
    redis.call('ZADD', log, number, entry)
  else
    beyond = beyond + 1
    local known = redis.call('GET', KEYS[at])
    if known then
      local known_end, known_before = string.match(known, '^(%d+) (%d+)$')
      ends = string.format('%.0f', math.max(ends, known_end))
      before = string.format('%.0f', math.max(before, known_before))
      life = string.format('%.0f', math.max(life, redis.call('PTTL', KEYS[at])))
    end
    redis.call('SET', KEYS[at], ends .. ' ' .. before, 'PX', life)
  end
end
if beyond > 0 and not redis.call('ZSCORE', log, note) then
  number = number + 1
  redis.call('ZADD', log, number, note)
end
redis.call('ZADD', log, number, counter)
if redis.call('PTTL', log) < ttl then redis.call('PEXPIRE', log, ttl) end
return beyond
