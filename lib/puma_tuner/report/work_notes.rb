# frozen_string_literal: true

module PumaTuner
  module Report
    # What is to be said beneath a table of endpoints or of jobs, in sentences.
    class WorkNotes
      # @param works [Array<Probe::EndpointObservation>]
      # @param noun [String] what is counted: "request" or "job"
      def initialize(works, noun: "request")
        @works = works
        @noun = noun
      end

      # @return [Array<String>]
      def all = [quantiles, *facts]

      # @return [Array<String>] that are there only where there is something to say
      def facts = [*Parts.sentences(@works.map(&:budget).reduce(:+)), before_puma, unclosed].compact

      # @return [String] how exact p50 and p99 are
      def quantiles
        "p50 and p99 are of all #{@noun}s, by a histogram: off by #{Units.percent(Probe::Histogram::RELATIVE_ERROR)} at most."
      end

      private

      # Endpoints without the proxy's stamp, such as its own health checks, have no say in it.
      def before_puma
        stamped = @works.select { |work| work.budget.before_puma_ns }
        return if stamped.empty?
        mean_ns = stamped.sum { |work| work.budget.before_puma_ns }.fdiv(stamped.sum(&:requests_count))
        "Before Puma: mean #{Units.duration(mean_ns)} per #{@noun} (by the proxy's clock)."
      end

      # Theirs are a fault of the probe's. That there are none shows little: see docs/design.md.
      def unclosed
        unclosed_count = @works.filter_map(&:unclosed_count).sum
        return if unclosed_count.zero?
        all_count = @works.sum(&:requests_count)
        ratio = unclosed_count.fdiv(all_count)
        "#{Figures.count(unclosed_count)} of #{Figures.counted(all_count, @noun)} (#{Units.percent(ratio)}) " \
          "have parts that miss their wall time by over 1%."
      end
    end
  end
end
