# frozen_string_literal: true

# The service: POST /graphql {"query": …}. All its requests have one path, so it names them by their operations.
require "json"
require_relative "setup"

OPERATION = /\A\s*query\s+(\w+)/

PumaTuner.group_endpoints { |env| env["shelf.operation"] && "POST /graphql #{env["shelf.operation"]}" } if defined?(PumaTuner) && PumaTuner.respond_to?(:group_endpoints)

run(lambda do |env|
  next [404, {}, []] unless env["REQUEST_METHOD"] == "POST" && env["PATH_INFO"] == "/graphql"
  query = JSON.parse(env["rack.input"].read).fetch("query")
  env["shelf.operation"] = query[OPERATION, 1]
  [200, {"content-type" => "application/json"}, [JSON.generate(Shelf.answer(query))]]
rescue JSON::ParserError, KeyError
  [400, {}, []]
end)
