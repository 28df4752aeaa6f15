-- Returns a page of the log from a number on, with that number: the counter has at least
-- the number of the last reading, and so is there unless something was lost. With it
-- comes the id of the process of the engine, if it is asked for.
local page = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local engine = ''
if ARGV[3] == '1' then
  engine = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
end
return {engine, page}
