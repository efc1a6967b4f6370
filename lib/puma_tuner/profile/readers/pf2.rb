# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # Pf2's hash as JSON: samples of places in tables of locations and functions, leaf first.
      class Pf2 < Reader
        # Pf2 takes the time of day at the start from a monotonic clock, in 64
        # bits without a sign; adding it again undoes that.
        CLOCK_MASK = (1 << 64) - 1

        private

        def check(content)
          ensure_kind(content.is_a?(Hash) && content.key?("collected_sample_count") && content.key?("puma_tuner"))
          @facts = content.fetch("puma_tuner")
          ensure_version(@facts.fetch("profiler_version"))
          ensure_mode(@facts.fetch("mode"))
        end

        def build(content)
          @functions = content.fetch("functions")
          @locations = content.fetch("locations")
          interval_ns = interval_ns_of(content.fetch("collected_sample_count") + content.fetch("dropped_sample_count"))
          start_ns = content.fetch("start_timestamp_ns")
          stacks = content.fetch("samples").map do |sample|
            at_ns = (sample.fetch("elapsed_ns") + start_ns) & CLOCK_MASK
            Stack.new(frames: frames(sample), amount: interval_ns, thread: nil, at_ns:)
          end
          Samples.new(**told(@facts), mode: @facts["mode"], unit: "ns", stacks: stacks.sort_by(&:at_ns), interval_ns:,
            samples_count: content["collected_sample_count"], lost_count: content.fetch("dropped_sample_count"))
        end

        def interval_ns_of(signals_count)
          return 1_000 * @facts.fetch("interval_us") if @facts["mode"] == "wall" || signals_count.zero?
          @facts.fetch("cpu_ns") / signals_count
        end

        # A thread that runs no Ruby has only its C functions.
        def frames(sample)
          places = sample.fetch("stack")
          places = sample.fetch("native_stack") if places.empty?
          (@stacks ||= {})[places] ||= places.reverse.map { |place| location(place) }.freeze
        end

        def location(place)
          function = @functions.fetch(@locations.fetch(place).fetch("function_index"))
          frame(function.fetch("name"), function.fetch("filename"), function.fetch("start_lineno"))
        end
      end
    end
  end
end
