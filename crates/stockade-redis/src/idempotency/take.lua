-- KEYS: the place of a key; the keys of its owner, by the end of their time.
-- ARGV: the fingerprint and the nonce; the lease and the whole time of the place; the
-- largest number of keys of an owner; the name of the key among them.
-- The place has the fingerprint (f), the nonce (n), the end of the lease (l), the end of
-- the place (e) and the record (r). Times are milliseconds of the engine's clock.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease, whole = tonumber(ARGV[3]), tonumber(ARGV[4])
local kept = redis.call('HMGET', KEYS[1], 'f', 'n', 'l', 'e', 'r')
if kept[1] and tonumber(kept[4]) > now then
  if kept[1] ~= ARGV[1] then return {4, false} end
  if kept[5] then return {3, kept[5]} end
  if kept[2] ~= ARGV[2] then
    if tonumber(kept[3]) > now then return {1, false} end
    return {2, false}
  end
else
  if redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf') >= tonumber(ARGV[5]) then
    return {5, false}
  end
  if kept[1] then redis.call('DEL', KEYS[1]) end
end
-- An engine without memory refuses the first write, and so all of them.
redis.call('HSET', KEYS[1], 'f', ARGV[1], 'n', ARGV[2], 'l', now + lease, 'e', now + whole)
redis.call('PEXPIRE', KEYS[1], whole)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[2], now + whole, ARGV[6])
if redis.call('PTTL', KEYS[2]) < whole then redis.call('PEXPIRE', KEYS[2], whole) end
return {0, false}
