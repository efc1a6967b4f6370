# frozen_string_literal: true

require "json"

module PumaTuner
  module Lanes
    # Lanes as a trace that ui.perfetto.dev and chrome://tracing open: Google's trace event format, of complete events
    # ("ph": "X", times in microseconds). Requests are above what their threads did. Of each recording every process is
    # one of its own.
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
            *process.lanes.each.with_index(1).flat_map { |lane, tid| lane_events(process, lane, pid, tid) }]
        end
      end

      def process_name(recording, process)
        worker = "worker #{process.worker_index}" if process.worker_index
        [recording.topology, worker, "pid #{process.pid}"].compact.join(", ")
      end

      def lane_events(process, lane, pid, tid)
        [named("thread_name", pid, tid, lane.name || "(no name)"), {ph: "M", name: "thread_sort_index", pid:, tid:,
                                                                    args: {sort_index: tid}},
          *lane.works.each_slice(3).map { |place, from_ns, ns|
            event(process, pid, tid, process.works[place], "request", from_ns, ns)
          },
          *lane.each_step.map { |kind, from_ns, ns| event(process, pid, tid, @words.fetch(kind), kind, from_ns, ns) }]
      end

      def named(what, pid, tid, name) = {ph: "M", name: what, pid:, tid:, args: {name:}}

      # A request may have begun before the recording; an event may begin at 0.
      def event(process, pid, tid, name, category, from_ns, ns)
        {ph: "X", name:, cat: category, pid:, tid:, ts: (process.from_ns + from_ns) / NS_PER_US, dur: ns / NS_PER_US}
      end
    end
  end
end
