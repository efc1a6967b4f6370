# frozen_string_literal: true

require "json"
require "time"

# The action of all rungs on Rails. Each line is one write, which has reached the kernel when the answer is sent.
module RailsEndpoint
  $stdout.sync = true

  def create
    report = JSON.parse(request.body.read)
    $stdout.write(JSON.generate({"time" => Time.now.utc.iso8601(3), "report" => report}) << "\n")
    head :created
  rescue JSON::JSONError
    head :bad_request
  end
end
