-- Stands before a script of rate limits, and gives it a clock that is an argument, in
-- microseconds, and keys that die by it. All else is the engine's.
local engine, clock = redis, tonumber(ARGV[5])
local millis = math.floor(clock / 1000)
local death = KEYS[1] .. ':dies'
local dies = tonumber(engine.call('GET', death))
if dies and dies <= millis then
  engine.call('DEL', KEYS[1], death)
  dies = nil
end
local function die_after(life)
  -- The engine takes whole numbers alone.
  assert(life >= 1 and life == math.floor(life), 'wrong life')
  engine.call('SET', death, string.format('%.0f', millis + life))
end
local redis = {}
function redis.call(name, key, ...)
  local arguments = {...}
  if name == 'TIME' then
    local seconds = math.floor(clock / 1000000)
    return {string.format('%.0f', seconds), string.format('%.0f', clock - seconds * 1000000)}
  elseif name == 'PTTL' then
    if dies then return dies - millis end
    return engine.call('EXISTS', key) - 2
  elseif name == 'PEXPIRE' then
    return die_after(arguments[1])
  elseif name == 'SET' and arguments[2] == 'PX' then
    die_after(arguments[3])
    return engine.call('SET', key, arguments[1])
  end
  return engine.call(name, key, ...)
end
