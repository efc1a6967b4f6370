# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # The call trees that our adapter took from ruby-prof: a row for each method in each chain of callers.
      class RubyProf < Reader
        # The sums of a method while the trees are gone through.
        Sums = Struct.new(:calls_count, :self_amount, :total_amount, :callers)

        private

        def build(content)
          @methods = content.fetch("methods").map { |name, path, line| frame(name, path, line) }
          @repeated = content.fetch("inputs", []).to_h { |path, line, count| [[path, line], count] }
          @sums = Hash.new { |sums, frame| sums[frame] = Sums.new(0, 0, 0, Hash.new(0)) }
          stacks = content.fetch("threads").flat_map { |thread| add(thread.fetch("calls"), thread["thread"]) }
          Samples.new(**told(content), mode: content["mode"],
            unit: (content["mode"] == "allocations") ? "objects" : "ns", stacks:, calls:)
        end

        def calls
          @sums.map do |frame, sums|
            Call.new(frame:, **sums.to_h, callers: sums.callers.to_h.freeze,
              repeated_count: @repeated[[frame.path, frame.line]])
          end
        end

        # @return [Array<Stack>] of the rows that have time of their own
        def add(rows, thread)
          chains = []
          rows.filter_map do |caller_place, method_place, count, self_amount, total_amount|
            frame = @methods.fetch(method_place)
            chain = caller_place ? chains.fetch(caller_place) : []
            sum(frame, chain, count, self_amount, total_amount)
            chains << (frames = [*chain, frame].freeze)
            Stack.new(frames:, amount: self_amount, thread:, at_ns: nil) if self_amount.positive?
          end
        end

        def sum(frame, chain, count, self_amount, total_amount)
          sums = @sums[frame]
          sums.calls_count += count
          sums.self_amount += self_amount
          sums.total_amount += total_amount unless chain.include?(frame)
          sums.callers[chain.last] += count if chain.any?
        end
      end
    end
  end
end
