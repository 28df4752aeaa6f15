-- Returns what is kept beyond the bound under each key: its end and its time, or nothing.
local found = {}
for at = 1, #KEYS do found[at] = redis.call('GET', KEYS[at]) or '' end
return found
