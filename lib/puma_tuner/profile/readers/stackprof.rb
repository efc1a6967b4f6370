# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # StackProf's results as JSON, as our adapter and `stackprof --json` write them. `raw` is one flat list: how many
      # frames, the frames root first, how many samples in a row, and so on. Where StackProf ran without our adapter,
      # what it does not tell is left unknown.
      class Stackprof < Reader
        # The version of the results.
        FORMAT = 1.2

        UNITS = {"cpu" => "ns", "wall" => "ns", "object" => "objects"}.freeze

        private

        def remedy = "; if you trust who recorded it, `stackprof --json FILE > FILE.json` makes of it what is"

        def check(content)
          ensure_kind(content.is_a?(Hash) && content.key?("missed_samples"))
          version = content["version"]
          unless version == FORMAT
            refuse("it is of StackProf's format #{Document.told(version)}, and known here is #{FORMAT}")
          end
          @facts = content["metadata"] || {}
          ensure_version(@facts["profiler_version"]) if @facts["profiler_version"]
          ensure_mode(content.fetch("mode"))
          return if content["raw"] || content["samples"] == 0
          refuse("it has no stacks: it was recorded without `raw: true`")
        end

        def build(content)
          mode = content.fetch("mode")
          @frames_by_address = content.fetch("frames").to_h do |address, told|
            [Integer(address), frame(told.fetch("name"), told.fetch("file"), told["line"])]
          end
          count = content.fetch("samples")
          @amount = amount(content, mode, count)
          Samples.new(
            profiler: @profiler::NAME, profiler_version: @facts["profiler_version"], pid: @facts["pid"], mode:,
            unit: UNITS.fetch(mode), stacks: stacks(content), samples_count: count,
            interval_ns: (@amount.round unless mode == "object"), lost_count: content.fetch("missed_samples")
          )
        end

        # @return [Numeric] of one sample
        def amount(content, mode, count)
          return content.fetch("interval") if mode == "object"
          signals_count = count + content.fetch("missed_samples")
          cpu_ns = @facts["cpu_ns"]
          return 1_000 * content.fetch("interval") if mode == "wall" || signals_count.zero? || cpu_ns.nil?
          cpu_ns.fdiv(signals_count)
        end

        def stacks(content)
          @times_us = content["raw_sample_timestamps"].to_a
          sample = 0
          runs(content["raw"].to_a).map do |addresses, run|
            stack = Stack.new(frames: frames(addresses), amount: amount_of(run, sample, content), thread: nil,
              at_ns: at_ns(sample, content))
            sample += run
            stack
          end
        end

        def at_ns(sample, content) = (1_000 * @times_us.fetch(sample) unless content.fetch("mode") == "object")

        # @return [Array<Array(Array<Integer>, Integer)>] frames' addresses, and how many samples in a row had them
        def runs(raw)
          found = []
          at = 0
          while at < raw.size
            length = Integer(raw[at])
            raise IndexError, "a stack of #{length} frames" unless length.positive?
            found << [raw[at + 1, length], Integer(raw.fetch(at + 1 + length))]
            at += length + 2
          end
          found
        end

        # Returns how long a run lasts. In wall mode a thread that rests is sampled once, when its rest begins, and
        # StackProf misses all signals until it is over: so a run lasts until the next sample.
        def amount_of(run, sample, content)
          next_us = @times_us[sample + run] if content.fetch("mode") == "wall"
          next_us ? (next_us - @times_us.fetch(sample)) * 1_000 : (run * @amount).round
        end

        def frames(addresses)
          (@stacks ||= {})[addresses] ||= addresses.map { |address| @frames_by_address.fetch(address) }.freeze
        end
      end
    end
  end
end
