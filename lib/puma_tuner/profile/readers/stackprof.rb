# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # StackProf's results, as Marshal wrote them. `raw` is one flat list: how many frames, the frames root first, how many samples
      # in a row, and so on.
      class Stackprof < Reader
        # Of the results.
        FORMAT = 1.2

        UNITS = {"cpu" => "ns", "wall" => "ns", "object" => "objects"}.freeze

        private

        def parse(bytes) = plain_marshal(bytes)

        def check(content)
          insist_on_kind(content.is_a?(Hash) && content.key?(:missed_samples) && content[:metadata].is_a?(Hash))
          refuse("it is of StackProf's format #{content[:version].inspect}, and known here is #{FORMAT}") unless content[:version] == FORMAT
          @facts = content[:metadata]
          insist_on_version(@facts.fetch("profiler_version"))
          insist_on_mode(content.fetch(:mode).to_s)
        end

        def build(content)
          mode = content.fetch(:mode).to_s
          @frames_by_address = content.fetch(:frames).transform_values { |told| frame(told.fetch(:name), told.fetch(:file), told[:line]) }
          count = content.fetch(:samples)
          @amount = amount(content, mode, count)
          Samples.new(**told(@facts), mode:, unit: UNITS.fetch(mode), stacks: stacks(content), samples_count: count,
            interval_ns: (@amount.round unless mode == "object"), lost_count: content.fetch(:missed_samples))
        end

        # @return [Numeric] of one sample
        def amount(content, mode, count)
          return content.fetch(:interval) if mode == "object"
          signals_count = count + content.fetch(:missed_samples)
          return content.fetch(:interval) * 1_000 if mode == "wall" || signals_count.zero?
          @facts.fetch("cpu_ns").fdiv(signals_count)
        end

        def stacks(content)
          raw = content[:raw].to_a
          times = content[:raw_sample_timestamps].to_a
          found = []
          at = sample = 0
          while at < raw.size
            length = Integer(raw[at])
            raise IndexError, "a stack of #{length} frames" unless length.positive?
            addresses = raw[at + 1, length]
            run = Integer(raw.fetch(at + 1 + length))
            found << Stack.new(frames: frames(addresses), amount: (run * @amount).round, thread: nil, at_ns: times.fetch(sample) * 1_000)
            at += length + 2
            sample += run
          end
          found
        end

        def frames(addresses) = (@stacks ||= {})[addresses] ||= addresses.map { |address| @frames_by_address.fetch(address) }.freeze
      end
    end
  end
end
