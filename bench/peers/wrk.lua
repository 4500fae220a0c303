-- Asks for each path of a file in turn; the requests are made once. Tells its sums as JSON, times in microseconds.
local requests = {}
local turn = 0

function init(args)
  for path in io.lines(args[1]) do requests[#requests + 1] = wrk.format("GET", path) end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary)
  local e = summary.errors
  local errors = e.connect + e.read + e.write + e.status + e.timeout
  io.write(string.format('\n{"gets":%d,"bytes":%d,"wallUs":%d,"errors":%d}\n', summary.requests, summary.bytes, summary.duration, errors))
end
