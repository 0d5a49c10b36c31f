-- Applies the reports of one gateway, and returns the state over all gateways. Uses the server's clock, but never lets time go
-- back: if the clock is set back, or another server takes over, time continues from where it was.
-- KEYS: one for each rate or quota; then the set of gateways with their latest heartbeats, the number of this gateway's newest
-- connection, and how far this script's clock is ahead of the server's.
-- ARGV: the gateway, the number of its connection, how long a heartbeat counts (us); then three for each limit:
--   a MICROS FIRST  a rate: requests that take up MICROS came, the first of them not before FIRST
--   l DUE 0         a rate: no request is due before DUE
--   q TOTAL 0       a quota: this gateway let through TOTAL
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local limits = #KEYS - 3
local gateways, connection, ahead_of = KEYS[limits + 1], KEYS[limits + 2], KEYS[limits + 3]
local ahead_us = tonumber(redis.call('GET', ahead_of) or '0')
local last = tonumber(redis.call('ZREVRANGE', gateways, 0, 0, 'WITHSCORES')[2] or '0')
if last > now + ahead_us then
  ahead_us = last - now
  redis.call('SET', ahead_of, string.format('%.0f', ahead_us), 'PX', 86400000)
end
now = now + ahead_us
-- The gateway has given up what it sent over an earlier connection, and reports it over a later one in another way.
if tonumber(redis.call('GET', connection) or '0') > tonumber(ARGV[2]) then
  return redis.error_reply('ERR an earlier connection of this gateway')
end
redis.call('SET', connection, ARGV[2], 'PX', 3600000)
local out = {}
for i = 1, limits do
  local kind, first, second = ARGV[3 * i + 1], tonumber(ARGV[3 * i + 2]), tonumber(ARGV[3 * i + 3])
  if kind == 'q' then
    if first > tonumber(redis.call('HGET', KEYS[i], ARGV[1]) or '0') then
      redis.call('HSET', KEYS[i], ARGV[1], string.format('%.0f', first))
      redis.call('EXPIRE', KEYS[i], 3456000)
    end
    local sum = 0
    for _, total in ipairs(redis.call('HVALS', KEYS[i])) do
      sum = sum + tonumber(total)
    end
    out[i] = sum
  else
    local due = tonumber(redis.call('GET', KEYS[i]) or '0')
    if kind == 'a' then
      due = math.max(due, math.min(second, now)) + first
    else
      due = math.max(due, first)
    end
    -- An instant in the past is kept for a while: another gateway may report requests of the same time.
    local ahead = math.max(due - now, 0)
    redis.call('SET', KEYS[i], string.format('%.0f', due), 'PX', math.ceil(ahead / 1000) + 5000)
    out[i] = due - now
  end
end
local unknown = redis.call('ZADD', gateways, string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', gateways, '-inf', string.format('(%.0f', now - tonumber(ARGV[3])))
redis.call('PEXPIRE', gateways, 60000)
out[limits + 1] = now
out[limits + 2] = unknown
out[limits + 3] = redis.call('ZCARD', gateways)
return out
