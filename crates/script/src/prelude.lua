-- The half of wrk's interface that is best said in Lua, and the two functions through which the host
-- calls a script's hooks. The host hands over the table `wrk`, filled from the URL and the flags, and
-- whether what the script prints goes to standard error.
local wrk, to_stderr = ...

local find, len, sub = string.find, string.len, string.sub
local pairs, tostring, type = pairs, tostring, type
local out = require("string.buffer").new()

if to_stderr then
  local stderr = io.stderr
  io.stdout = stderr
  io.output(stderr)
  function print(...)
    local words = { ... }
    for i = 1, select("#", ...) do words[i] = tostring(words[i]) end
    stderr:write(table.concat(words, "\t"), "\n")
  end
end

local function text(value)
  local kind = type(value)
  if kind == "string" or kind == "number" then return value end
  return tostring(value)
end

-- A request of what is given, the rest taken from `wrk`. As in wrk, the table of headers that is given
-- gets Host and Content-Length.
function wrk.format(method, path, headers, body)
  headers = headers or wrk.headers
  body = body or wrk.body
  if not headers["Host"] then headers["Host"] = wrk.headers["Host"] end
  headers["Content-Length"] = body and len(body)
  out:reset()
  out:put(text(method or wrk.method), " ", text(path or wrk.path), " HTTP/1.1\r\n")
  for name, value in pairs(headers) do
    out:put(text(name), ": ", text(value), "\r\n")
  end
  out:put("\r\n")
  if body then out:put(body) end
  return out:get()
end

function wrk.setup(thread)
  if type(setup) == "function" then setup(thread) end
end

function wrk.init(args)
  local headers = wrk.headers
  if not headers["Host"] then
    local host, port = wrk.host, wrk.port
    if find(host, ":", 1, true) then host = "[" .. host .. "]" end
    headers["Host"] = port and (host .. ":" .. port) or host
  end
  if type(init) == "function" then init(args) end
  local request = wrk.format()
  function wrk.request() return request end
end

local hooks = {}

function hooks.request()
  local request = request
  if type(request) ~= "function" then request = wrk.request end
  return request()
end

function hooks.delay()
  local delay = delay
  if type(delay) ~= "function" then return 0 end
  return delay()
end

-- `fields` holds name and value of each header in turn, each followed by a line feed.
function hooks.response(status, fields, body)
  local response = response
  if type(response) ~= "function" then return end
  local headers, at, last = {}, 1, len(fields)
  while at <= last do
    local name = find(fields, "\n", at, true)
    local value = find(fields, "\n", name + 1, true)
    headers[sub(fields, at, name - 1)] = sub(fields, name + 1, value - 1)
    at = value + 1
  end
  response(status, headers, body)
end

return hooks
