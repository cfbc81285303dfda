-- Which requests does wrk make, and what became of them? (One target, many credentials in turns; one JSON line at the end.)
local requests = {}
local at = 0

-- args: what the credentials begin with, and how many there are.
function init(args)
  for i = 1, tonumber(args[2]) do
    requests[i] = wrk.format("GET", nil, {
      ["Host"] = wrk.headers["Host"],
      ["Authorization"] = "Bearer " .. args[1] .. "-caller-" .. i,
      ["Accept"] = "application/json",
      ["User-Agent"] = "bench/1.0",
    })
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format('{"requests":%d,"perSecond":%.3f,"failed":%d,"p50":%.3f,"p99":%.3f}\n', summary.requests,
    summary.requests / (summary.duration / 1e6), failed, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
