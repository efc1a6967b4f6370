# frozen_string_literal: true

require "json"

module PumaTuner
  module Lanes
    # Lanes as a trace that ui.perfetto.dev and chrome://tracing open: Google's trace event format, of complete events
    # ("ph": "X", times in microseconds). A thread's requests have a track of their own above what it did, as events of
    # one track must lie within each other, and a request ends in the midst of a step. Each recording's processes are
    # others.
    class Perfetto
      NS_PER_US = 1_000.0

      # @param comparison [Comparison]
      # @param words [Hash{String => String}] what each kind of step is called
      def initialize(comparison, words)
        @comparison = comparison
        @words = words
      end

      # @return [String] JSON
      def to_s = JSON.generate(traceEvents: events, displayTimeUnit: "ms")

      private

      def events
        processes = @comparison.recordings.flat_map { |recording|
          recording.processes.map { |process| [recording, process] }
        }
        processes.each.with_index(1).flat_map do |(recording, process), pid|
          [named("process_name", pid, 0, process_name(recording, process)),
            *process.lanes.each.with_index(1).flat_map { |lane, place| lane_events(process, lane, pid, place) }]
        end
      end

      def process_name(recording, process)
        worker = "worker #{process.worker_index}" if process.worker_index
        [recording.topology, worker, "pid #{process.pid}"].compact.join(", ")
      end

      def lane_events(process, lane, pid, place)
        works = lane.works.each_slice(3).map { |work, from_ns, ns| [process.works[work], "request", from_ns, ns] }
        steps = lane.each_step.map { |kind, from_ns, ns| [@words.fetch(kind), kind, from_ns, ns] }
        name = lane.name || "(no name)"
        [["#{name}: requests", works], [name, steps]].each_with_index.flat_map do |(title, spans), index|
          tid = 2 * place + index
          next [] if spans.empty?
          [named("thread_name", pid, tid, title), {ph: "M", name: "thread_sort_index", pid:, tid:,
                                                   args: {sort_index: tid}},
            *spans.map { |span| event(process, pid, tid, *span) }]
        end
      end

      def named(what, pid, tid, name) = {ph: "M", name: what, pid:, tid:, args: {name:}}

      # A request may have begun before the recording, in which nothing can lie before 0.
      def event(process, pid, tid, name, category, from_ns, ns)
        end_ns = process.from_ns + from_ns + ns
        began_ns = [process.from_ns + from_ns, 0].max
        {ph: "X", name:, cat: category, pid:, tid:, ts: began_ns / NS_PER_US, dur: (end_ns - began_ns) / NS_PER_US}
      end
    end
  end
end
