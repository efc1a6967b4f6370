# frozen_string_literal: true

module PumaTuner
  module Report
    # What a person reads in a terminal, in the order of the flow: what was measured, where the time went, what other
    # settings would do, what to change, whether it held, what is not known. A tuning ends with all of it in sentences, as
    # the end is what stays on the screen.
    class Text
      KINDS = %i[observation workload machine sweep advice_list verdict tuning profile profile_diff tradeoff fleet].freeze

      WIDTH = 100

      autoload :Beware, "puma_tuner/report/text/beware"
      autoload :Section, "puma_tuner/report/text/section"
      autoload :Measured, "puma_tuner/report/text/measured"
      autoload :Threads, "puma_tuner/report/text/threads"
      autoload :Endpoints, "puma_tuner/report/text/endpoints"
      autoload :Jobs, "puma_tuner/report/text/jobs"
      autoload :Holders, "puma_tuner/report/text/holders"
      autoload :BackgroundThreads, "puma_tuner/report/text/background_threads"
      autoload :Demands, "puma_tuner/report/text/demands"
      autoload :Machine, "puma_tuner/report/text/machine"
      autoload :Forecasts, "puma_tuner/report/text/forecasts"
      autoload :ForecastRows, "puma_tuner/report/text/forecast_rows"
      autoload :Explanation, "puma_tuner/report/text/explanation"
      autoload :Matrix, "puma_tuner/report/text/matrix"
      autoload :Recommendation, "puma_tuner/report/text/recommendation"
      autoload :Proof, "puma_tuner/report/text/proof"
      autoload :Causes, "puma_tuner/report/text/causes"
      autoload :Ran, "puma_tuner/report/text/ran"
      autoload :Rests, "puma_tuner/report/text/rests"
      autoload :Footer, "puma_tuner/report/text/footer"
      autoload :AllocationSites, "puma_tuner/report/text/allocation_sites"
      autoload :CostDiff, "puma_tuner/report/text/cost_diff"
      autoload :Costs, "puma_tuner/report/text/costs"
      autoload :Hints, "puma_tuner/report/text/hints"
      autoload :InShort, "puma_tuner/report/text/in_short"
      autoload :Tradeoff, "puma_tuner/report/text/tradeoff"
      autoload :FleetComparison, "puma_tuner/report/text/fleet_comparison"
      autoload :FleetMix, "puma_tuner/report/text/fleet_mix"
      autoload :FleetServices, "puma_tuner/report/text/fleet_services"

      SECTIONS = %i[Beware Measured Threads Endpoints Jobs Holders BackgroundThreads Demands Machine Forecasts Recommendation Proof Causes Ran Rests
        Footer InShort].freeze

      # What of a tuning is worth reading while its proof is still to come.
      EARLY_SECTIONS = %i[Beware Threads Forecasts Recommendation InShort].freeze

      # Kinds of document that are no part of a tuning have sections of their own, which are given the value itself.
      OWN_SECTIONS = {
        profile: %i[Costs AllocationSites Hints],
        profile_diff: %i[CostDiff],
        tradeoff: %i[Tradeoff],
        fleet: %i[FleetComparison FleetMix FleetServices]
      }.freeze

      # @param color [Boolean] whether to use a terminal's colours
      # @param early [Boolean] whether only what matters before a tuning's proof is shown
      def initialize(color: false, early: false)
        @paint = Paint.new(color)
        @sections = early ? EARLY_SECTIONS : SECTIONS
      end

      # @return [String]
      def call(value)
        own = OWN_SECTIONS[value.class::KIND]
        contents = own ? value : Contents.of(value)
        (own || @sections).filter_map { |name| Text.const_get(name).new(contents, @paint).to_text }.join("\n\n") << "\n"
      end
    end
  end
end
