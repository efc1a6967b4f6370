# frozen_string_literal: true

require "json"
require "time"

# One write for each line, which has reached the kernel when the answer is sent.
$stdout.sync = true

run(lambda do |env|
  next [404, {}, []] unless env["REQUEST_METHOD"] == "POST" && env["PATH_INFO"] == "/reports"
  report = JSON.parse(env["rack.input"].read)
  $stdout.write(JSON.generate({"time" => Time.now.utc.iso8601(3), "report" => report}) << "\n")
  [201, {}, []]
rescue JSON::JSONError
  [400, {}, []]
end)
