-- Removes expired entries.
return redis.call('ZREM', KEYS[1], unpack(ARGV))
