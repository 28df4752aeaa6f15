//! The Lua scripts of the rooms. Each script declares all its keys, which share
//! a hash tag.

use std::sync::LazyLock;

use crate::script::Script;

/// Numbers, appends and publishes messages to one channel.
///
/// Keys: head, log, channel. Arguments: an epoch to use if none exists, the
/// TTLs of head and log in milliseconds, the length of the log, and the
/// messages. The stream IDs are the message numbers, because IDs from the
/// server's clock may decrease at a failover.
pub(crate) static PUBLISH: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local epoch = redis.call('HGET', KEYS[1], 'e')
if not epoch then
  epoch = ARGV[1]
  redis.call('HSET', KEYS[1], 'e', epoch, 'n', 0)
  redis.call('DEL', KEYS[2])
end
local number = 0
for i = 5, #ARGV do
  number = string.format('%.0f', redis.call('HINCRBY', KEYS[1], 'n', 1))
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[4], number .. '-0', 'd', ARGV[i])
  redis.call('PUBLISH', KEYS[3], epoch .. ' ' .. number .. ' ' .. ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return number",
    )
});

/// Publishes messages without a number. Key: channel. Arguments: the messages.
pub(crate) static PUBLISH_ONLY: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "for i = 1, #ARGV do redis.call('PUBLISH', KEYS[1], '- 0 ' .. ARGV[i]) end
return 0",
    )
});

/// Returns the position of a channel and the messages after a known position,
/// and renews the TTLs.
///
/// Keys: head, log, here. Arguments: an epoch to use if none exists (empty:
/// create none), the TTL of the head, the known epoch (empty: no messages), the
/// known number, 1 to end the known epoch, the maximum number of messages, the
/// process. Returns the epoch, the number, 1 if `here` lists the process, the
/// number of listed processes, and numbers with messages.
pub(crate) static READ: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "redis.call('PEXPIRE', KEYS[3], ARGV[2])
local here, nodes = redis.call('HEXISTS', KEYS[3], ARGV[7]), redis.call('HLEN', KEYS[3])
local epoch = redis.call('HGET', KEYS[1], 'e')
if not epoch and ARGV[1] == '' then return {'', 0, here, nodes, {}} end
if not epoch or (ARGV[5] == '1' and epoch == ARGV[3]) then
  epoch = ARGV[1]
  redis.call('HSET', KEYS[1], 'e', epoch, 'n', 0)
  redis.call('DEL', KEYS[2])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local number = tonumber(redis.call('HGET', KEYS[1], 'n') or '0')
local after = 0
if epoch == ARGV[3] then after = tonumber(ARGV[4]) end
local found = {}
if ARGV[3] ~= '' and ARGV[6] ~= '0' and number > after then
  local first = string.format('%.0f', after + 1) .. '-0'
  for _, entry in ipairs(redis.call('XRANGE', KEYS[2], first, '+', 'COUNT', ARGV[6])) do
    found[#found + 1] = string.match(entry[1], '^%d+')
    found[#found + 1] = entry[2][2]
  end
end
return {epoch, number, here, nodes, found}",
    )
});

/// Writes the members of a process in a room. Key: here. Arguments: the
/// process, the TTL of the key, the members (empty: none).
pub(crate) static WRITE_HERE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0",
    )
});

/// Returns the processes of a room with their members. Key: here. Argument: 1
/// to return only the numbers of members.
pub(crate) static READ_HERE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local all = redis.call('HGETALL', KEYS[1])
if ARGV[1] == '1' then
  for i = 2, #all, 2 do all[i] = string.match(all[i], '^%d+') end
end
return all",
    )
});

/// Removes processes from a room. Key: here. Arguments: the processes.
pub(crate) static FORGET: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "for i = 1, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
return 0",
    )
});

/// Renews the lease of a process, by the server's clock.
///
/// Key: the leases. Arguments: the process (empty: none), its lease in
/// milliseconds (0 ends it), the time for which an expired lease is remembered.
/// Returns 1 if the process is new, the live processes, and the processes with
/// an expired lease.
pub(crate) static BEAT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local new = 0
if ARGV[2] == '0' then redis.call('ZREM', KEYS[1], ARGV[1])
elseif ARGV[1] ~= '' then
  new = redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[3]))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ARGV[2] + ARGV[3]))
end
now = string.format('%.0f', now)
return {new, redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf'),
  redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)}",
    )
});
