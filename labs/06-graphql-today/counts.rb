# frozen_string_literal: true

# What a query does, counted. Where its time goes is told by `puma_tuner profile --block blocks.rb`.
#
#     ENGINE=classic QUERY=introspection bin/exec ruby labs/06-graphql-today/counts.rb calls       # calls of one query, counted
#     ENGINE=classic QUERY=introspection bin/exec ruby labs/06-graphql-today/counts.rb objects     # objects of one query, by line
require_relative "workloads"
require_relative "patches"

module GraphqlToday
  module Counts
    module_function

    # @return [void] every method and how often it is called, C methods included
    def calls(ask)
      3.times { ask.call }
      counts = Hash.new(0)
      trace = TracePoint.new(:call, :c_call) { |point| counts["#{point.defined_class.inspect[0, 90]}##{point.method_id}"] += 1 }
      trace.enable { ask.call }
      puts "#{counts.values.sum} calls"
      counts.max_by(45) { |_, count| count }.each { |name, count| puts format("%8d %s", count, name) }
    end

    def objects(ask)
      require "objspace"
      3.times { ask.call }
      kept = nil
      GC.disable
      places = Hash.new(0)
      ObjectSpace.trace_object_allocations do
        kept = ask.call
        ObjectSpace.each_object { |object| (file = ObjectSpace.allocation_sourcefile(object)) && places["#{object.class} #{file[/lib\/.*/]}:#{ObjectSpace.allocation_sourceline(object)}"] += 1 }
      end
      places.max_by(25) { |_, count| count }.each { |place, count| puts format("%8d %s", count, place) }
      kept
    end
  end
end

GraphqlToday::Patches.load_named(ENV.fetch("PATCHED", "0"))
ask = GraphqlToday::Workloads.fetch(engine: ENV.fetch("ENGINE", "classic"), query: ENV.fetch("QUERY", "introspection"))
GraphqlToday::Counts.public_send(ARGV.fetch(0, "calls"), ask)
