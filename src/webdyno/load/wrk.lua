-- Asks wrk to send one method and body, and to say in one line of JSON what its own report rounds or leaves out.
-- Called as: wrk ... -s wrk.lua -- URL METHOD [BODY]. Nothing here runs per request, so wrk stays as fast as it is.

function init(args)
  wrk.method = args[1]
  wrk.body = args[2]
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"webdyno":1,"duration_us":%d,"requests":%d,"bytes":%d,'
      .. '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},"latency_us":',
    summary.duration, summary.requests, summary.bytes,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
  if #latency == 0 then
    io.write("null}\n")
    return
  end
  io.write(string.format(
    '{"mean":%.3f,"stdev":%.3f,"min":%d,"max":%d,"p50":%d,"p75":%d,"p90":%d,"p99":%d,"p99.9":%d}}\n',
    latency.mean, latency.stdev, latency.min, latency.max, latency:percentile(50), latency:percentile(75),
    latency:percentile(90), latency:percentile(99), latency:percentile(99.9)))
end
