# frozen_string_literal: true

require "json"
require "time"

module PumaTuner
  module Lanes
    # Lanes as a profile that profiler.firefox.com opens: its "processed profile" of version 48, the one that Vernier
    # writes (github.com/firefox-devtools/profiler, src/types/profile.js).
    #
    # Every step is a marker with its begin and end. The graph of a thread is made of samples, which such a profile
    # needs: one each INTERVAL_NS, of what the thread did then. Each recording's processes are others, and begin at 0.
    class Firefox
      VERSION = 48
      GECKO_VERSION = 30
      INTERVAL_NS = 500_000
      NS_PER_MS = 1_000_000.0

      # A process records for a minute at most (Probe::LaneReader.order). Who has changed a file could have a step last
      # for centuries, and samples of it would take all memory.
      LONGEST_NS = 100 * Units::NS_PER_S

      # The profiler's own names of colours. Idle time is none of a thread's activity.
      COLORS = {"held" => "blue", "gc" => "lightblue", "gvl_wait" => "red", "lock" => "orange", "pool" => "orange",
                "sleep" => "grey", "idle" => "transparent", "compute" => "blue", "open" => "grey"}.freeze
      IO_COLOR = "green"

      # A marker's data: which schema it is of, and its field.
      STEP, REQUEST = "step", "request"
      INTERVAL_PHASE = 1

      # @param comparison [Comparison]
      # @param words [Hash{String => String}] what each kind of step is called
      def initialize(comparison, words)
        @comparison = comparison
        @words = words
        @kinds = words.keys
      end

      # @return [String] JSON
      def to_s = JSON.generate(meta:, libs: [], pages: [], threads:)

      private

      def meta
        recorded_at = @comparison.recordings.first&.recorded_at
        {interval: INTERVAL_NS / NS_PER_MS, startTime: recorded_at ? Time.iso8601(recorded_at).to_f * 1_000 : 0,
         processType: 0, product: "PumaTuner", stackwalk: 0, debug: false, version: GECKO_VERSION,
         preprocessedProfileVersion: VERSION, symbolicated: true, categories:, markerSchema: schemas,
         sampleUnits: {time: "ms", eventDelay: "ms", threadCPUDelta: "ns"}, sourceCodeIsNotOnSearchfox: true,
         physicalCPUs: 0, logicalCPUs: 0}
      end

      def categories
        @kinds.map { |kind| {name: @words.fetch(kind), color: COLORS.fetch(kind, IO_COLOR), subcategories: ["Other"]} }
      end

      def schemas
        [STEP, REQUEST].map do |name|
          {name:, display: %w[marker-chart marker-table timeline-overview], tooltipLabel: "{marker.name}",
           data: [{key: "what", label: "What", format: "string"}]}
        end
      end

      def threads
        @comparison.recordings.flat_map.with_index(1) do |recording, place|
          recording.processes.flat_map do |process|
            process.lanes.each_with_index.map { |lane, index| thread(recording, process, lane, place, index) }
          end
        end
      end

      def thread(recording, process, lane, place, index)
        strings = Strings.new
        frames = @kinds.map { |kind| strings[@words.fetch(kind)] }
        {name: lane.name || "(no name)", isMainThread: index.zero?, processType: "default",
         processName: [recording.topology, process.worker_index && "worker #{process.worker_index}"].compact.join(", "),
         processStartupTime: 0, processShutdownTime: nil, registerTime: lane.from_ns / NS_PER_MS, unregisterTime: nil,
         pausedRanges: [], pid: "#{place}.#{process.pid}", tid: (place * 1_000_000) + (process.pid * 1_000) + index,
         samples: samples(process, lane), markers: markers(process, lane, strings),
         stackTable: table(@kinds.size, frame: frames.each_index.to_a, category: frames.each_index.to_a,
           subcategory: 0, prefix: nil),
         frameTable: table(@kinds.size, address: -1, inlineDepth: 0, category: frames.each_index.to_a, subcategory: 0,
           func: frames.each_index.to_a, nativeSymbol: nil, innerWindowID: nil, implementation: nil, line: nil,
           column: nil),
         funcTable: table(@kinds.size, name: frames, isJS: false, relevantForJS: false, resource: -1, fileName: nil,
           lineNumber: nil, columnNumber: nil),
         resourceTable: table(0, lib: nil, name: nil, host: nil, type: nil),
         nativeSymbols: table(0, address: nil, functionSize: nil, libIndex: nil, name: nil),
         stringArray: strings.to_a}
      end

      # Columns of one length; what is no Array is the same in all rows.
      def table(length, **columns)
        {**columns.transform_values { |column| column.is_a?(Array) ? column : Array.new(length, column) }, length:}
      end

      def samples(process, lane)
        lasts_ns = lane.steps.grep(Numeric).select(&:positive?).sum
        raise ArgumentError, "a thread's steps last for #{Units.duration(lasts_ns)}" if lasts_ns > LONGEST_NS
        stacks, times = [], []
        next_ns = 0
        lane.each_step do |kind, from_ns, ns|
          next_ns = from_ns if next_ns < from_ns
          while next_ns < from_ns + ns
            stacks << @kinds.index(kind)
            times << (process.from_ns + next_ns) / NS_PER_MS
            next_ns += INTERVAL_NS
          end
        end
        {stack: stacks, time: times, weight: nil, weightType: "samples", length: stacks.size}
      end

      def markers(process, lane, strings)
        steps = lane.each_step.reject { |kind, _, _| kind == "idle" }
          .map { |kind, from_ns, ns| [from_ns, ns, @words.fetch(kind), @kinds.index(kind), STEP] }
        works = lane.works.each_slice(3).map { |place, from_ns, ns| [from_ns, ns, process.works[place], 0, REQUEST] }
        rows = (steps + works).sort_by(&:first)
        begins = rows.map { |from_ns, *| (process.from_ns + from_ns) / NS_PER_MS }
        table(rows.size, data: rows.map { |_, _, name, _, type| {type:, what: name} },
          name: rows.map { |_, _, name, *| strings[name] }, startTime: begins,
          endTime: rows.map { |from_ns, ns, *| (process.from_ns + from_ns + ns) / NS_PER_MS },
          phase: INTERVAL_PHASE, category: rows.map { |_, _, _, category, _| category })
      end

      # Numbers texts in the order in which they come.
      class Strings
        def initialize
          @places = {}
        end

        # @return [Integer]
        def [](text) = @places[text] ||= @places.size

        # @return [Array<String>]
        def to_a = @places.keys
      end
      private_constant :Strings
    end
  end
end
