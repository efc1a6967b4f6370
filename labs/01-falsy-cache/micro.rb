# frozen_string_literal: true

# A hit in the map and nothing else: what is stored decides.
require_relative "setup"

map = Concurrent::Map.new
{"nil" => nil, "true" => true}.each { |name, value| map[name] = value }

%w[nil true].each do |name|
  block("stored #{name}") do |count|
    while count > 0
      map.compute_if_absent(name) { raise "it is there" }
      count -= 1
    end
  end
end
