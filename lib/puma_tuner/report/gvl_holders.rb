# frozen_string_literal: true

module PumaTuner
  module Report
    # Who held the GVL while requests and jobs waited for it.
    class GvlHolders
      # wait_ns: all of it; per_request_ns: its mean; slices, long_holds: those that happened in a hundred of the row's
      # own requests, as text: they tell whether the row, where it is itself a holder, holds long or often; shares:
      # holder to ratio
      Row = Data.define(:name, :wait_ns, :per_request_ns, :slices, :long_holds, :shares) do
        # @param count [Integer] of lines at most
        # @return [Array<Array(String, Float)>] the largest first, the rest as one
        def largest(count)
          seen = shares.select { |_, ratio| ratio >= ThreadLine::LEAST_PRINTED_RATIO }
            .sort_by { |name, ratio| [-ratio, name] }
          return seen if seen.size <= count
          shown = seen.first(count - 1)
          shown << ["others", seen.drop(count - 1).sum(&:last)]
        end
      end

      # Of all time; below that nobody needs to know.
      LEAST_RATIO = 0.005

      # Holders that have no name of their own.
      SPECIAL = {"(gc)" => "garbage collection", "(puma)" => "Puma itself", "(other)" => "others"}.freeze

      # @param blame [Probe::Blame]
      # @return [String]
      def self.holder_name(blame)
        case blame.kind
        when "special" then SPECIAL.fetch(blame.holder, blame.holder)
        when "request" then blame.holder
        else "#{blame.kind} #{blame.holder}"
        end
      end

      # @param observation [Probe::Observation]
      def initialize(observation)
        @works = observation.endpoints.map { |endpoint| [endpoint.name, endpoint] } +
          observation.jobs.map { |job| ["job #{job.name}", job] }
      end

      # @return [Boolean] whether it matters, and anything is known of it
      def any?
        return false unless waiting.any? { |_, work| work.blame.any? }
        all.wait_ns >= @works.sum { |_, work| work.budget.wall_ns } * LEAST_RATIO
      end

      # @return [Array<Row>] the longest wait first
      def rows
        @rows ||= waiting.map { |name, work| row(name, [work]) }.sort_by { |row| [-row.wait_ns, row.name] }
      end

      # @return [Row] all of them together
      def all = @all ||= row("all", waiting.map(&:last))

      private

      def waiting = @waiting ||= @works.select { |_, work| work.budget.gvl_wait_ns&.positive? }

      def row(name, works)
        wait_ns = works.sum { |work| work.budget.gvl_wait_ns }
        requests_count = works.sum(&:requests_count)
        Row.new(name:, wait_ns:, per_request_ns: wait_ns.fdiv(requests_count), shares: shares(works, wait_ns),
          slices: per_hundred(works.map(&:slices_count), requests_count),
          long_holds: per_hundred(works.map(&:long_holds_count), requests_count))
      end

      # Waits too short to be looked into have no holder: they are others', too.
      def shares(works, wait_ns)
        sums = Hash.new(0)
        works.each { |work| work.blame.each { |blame| sums[self.class.holder_name(blame)] += blame.wait_ns } }
        missing_ns = wait_ns - sums.values.sum
        sums[SPECIAL.fetch("(other)")] += missing_ns if missing_ns.positive?
        sums.transform_values { |ns| ns.fdiv([sums.values.sum, 1].max) }
      end

      def per_hundred(counts, requests_count)
        return "-" unless counts.all?
        counts.sum.zero? ? "0" : Units.significant(counts.sum * 100.0 / requests_count)
      end
    end
  end
end
