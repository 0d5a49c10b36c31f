-- Takes in what one gateway tells, and answers what all gateways together are at. By the server's own clock, which goes on
-- from where it was if it is put back, or if another server with another clock takes over.
-- KEYS: a rate or quota each; then the gateways with their last signs of life, the newest connection of this one, and how far
-- the clock is ahead of the server's.
-- ARGV: the gateway, the number of its connection, how long a sign of life counts (us); then three of each limit:
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
-- What an earlier connection still brings was given up, and is told in another way by a later one.
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
    -- One that is behind is kept for a while: another gateway may tell of the same time.
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
