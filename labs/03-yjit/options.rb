# frozen_string_literal: true

require_relative "service"

module PumaTuner
  module Labs
    # The knobs that story 3 names and did not try, on both of its services: YJIT's memory limit with its call threshold, every pair. The rounds are fixed, so
    # that the time is known; whether the intervals were narrow enough to recommend a setting is said with it.
    class YjitOptions
      # services: each with the limits that are tried, in MiB of what the limit counts in this Ruby; precision_ratio: the half width that the intervals of CPU per
      # request and memory are to have, nil of the short form, whose few rounds recommend nothing
      Sizes = Data.define(:limits_mib, :topology, :connections_count, :call_thresholds, :precision_ratio, :rounds_count, :duration_s, :warmup_window_s,
        :warmup_limit_s) do
        def self.quick
          new(limits_mib: {Yjit::OAUTH => [8]}, topology: "1x3", connections_count: 2, call_thresholds: [200], precision_ratio: nil, rounds_count: 2, duration_s: 0.6,
            warmup_window_s: 0.25, warmup_limit_s: 0.75)
        end

        # A worker of the small service has 9 MiB of code, which more than 16 MiB can't hold back; of the large one 17 MiB, and as much again beside it. 5 calls
        # compile nearly everything, 200 what is asked for often; Rails' default lies between. Eight rounds can show something of
        # six settings, and of no more: 16 MiB, which held the large one back, are left out of it.
        def self.full
          new(limits_mib: {Yjit::OAUTH => [16], Yjit::SHOP => [32]}, topology: "2x3", connections_count: 4, call_thresholds: [5, 200], precision_ratio: 0.03, rounds_count: 8,
            duration_s: 5, warmup_window_s: 3, warmup_limit_s: 40)
        end

        # @return [Array<YjitService>]
        def services = limits_mib.keys
      end

      def name = "yjit_options"

      def title = "YJIT's memory limit and call threshold on two Rails services"

      def question = "Which --yjit-exec-mem-size with which --yjit-call-threshold takes least CPU for its memory, in a small service and in a large one?"

      def story = 3

      def gems(quick:) = []

      # @return [Array<Lab::Bundle>]
      def bundles(quick:) = sizes(quick).services.map(&:bundle)

      # @param say [#call] told what takes long
      # @raise [UsageError]
      def set_up(say:) = Yjit::SERVICES.each { |service| service.set_up(say) }

      def expected_s(quick:)
        sizes = sizes(quick)
        least_s = 3 * sizes.warmup_window_s
        trial_s = sizes.duration_s + least_s + Yjit::WARMUP_SHARE.fetch(quick) * [sizes.warmup_limit_s - least_s, 0].max + 2
        (sizes.services.sum { |service| menu(service, sizes).size } * sizes.rounds_count * trial_s).ceil
      end

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      # @raise [UsageError] when a service is not set up
      def call(run)
        sizes = sizes(run.quick?)
        sizes.services.each { |service| service.ensure_set_up([RUBY_VERSION]) }
        verdicts = sizes.services.to_h { |service| [service.name, proof(run, service, sizes)] }
        studies = verdicts.transform_values { |verdict| Tradeoff::Judge.new(verdict, subject: "yjit").call }
        run.finding(claims: [], tables: studies.map { |name, study| table(name, study) }, charts: [], conclusions: studies.map { |name, study| conclusion(name, study, sizes.precision_ratio) }, verdicts:,
          unknown: run.quick? ? {"which to take" => "the short form has two rounds of few settings, and shows nothing"} : {})
      end

      private

      def sizes(quick) = quick ? Sizes.quick : Sizes.full

      def menu(service, sizes) = Tradeoff::Menu.variants(["yjit"], memory_mib: sizes.limits_mib.fetch(service), call_thresholds: sizes.call_thresholds, cross: true)

      # @return [Prove::Verdict]
      def proof(run, service, sizes)
        variants = menu(service, sizes).to_h { |variant| [variant.name, {**service.factors, "topology" => sizes.topology, **variant.factors}] }
        traffic = Load::Traffic.new(mix: service.traffic.mix(service.kinds_count), generator: Load::Native.new, connections_count: sizes.connections_count, seed: run.seed).ensure_generator
        run.served_proof(variants, traffic:, out: ->(_) { File::NULL }, title: service.title, turns_count: 2, probe_s: 0, **sizes.to_h.slice(:rounds_count, :duration_s, :warmup_window_s, :warmup_limit_s))
      end

      # From the least memory to the most.
      def table(name, study)
        rows = study.points.sort_by(&:memory).map do |point|
          [point.variant, over(point.cpu_ratio), over(point.memory_ratio), Units.duration(point.p99_ns&.value), code(point), mark(point, study)]
        end
        Lab::Table.new(title: "The #{name} service, Ruby #{RUBY_VERSION}", headings: ["setting", "CPU per request", "memory", "p99", "code, of the limit", ""], rows:,
          notes: ["Over #{study.baseline.variant}, with #{(study.verdict.rounds_count < Prove::PairedValues::PAIRS_MIN) ? "the range" : "95% intervals"} of " \
            "#{Units.counted(study.verdict.rounds_count, "round")}; memory at equal requests served.",
            *study.points.flat_map { |point| point.remarks.map { |text| "#{point.variant}: #{text}" } }])
      end

      def over(ratio) = ratio ? Report::Figures.ratio(ratio) : "1"

      def code(point)
        return "-" unless point.code_bytes
        "#{Units.significant(point.code_bytes.fdiv(Units::MIB))} MiB#{", #{Units.percent(point.code_ratio)}" if point.code_ratio}"
      end

      def mark(point, study)
        return "recommended" if point.variant == study.recommended
        return "Pareto front" if point.pareto_optimal
        point.dominated ? "dominated" : ""
      end

      # @param precision_ratio [Float, nil] that the intervals were to have
      def conclusion(name, study, precision_ratio = nil)
        settings = study.recommended_point.settings
        settings = settings.grep_v(/\A(?:app|gemfile)=/)
        "The #{name} service: #{study.recommended}#{" (#{settings.join(", ")})" if settings.any?}. #{[study.reason, precision(study, precision_ratio)].compact.join(" ")}"
      end

      # The widest interval of all settings decides: what is recommended was chosen among all.
      def precision(study, wanted_ratio)
        return unless wanted_ratio
        widths = study.points.flat_map { |point| [point.cpu_ratio, point.memory_ratio] }.compact.map { |ratio| (ratio.high - ratio.low) / (2 * ratio.value) }
        rounds = Units.counted(study.verdict.rounds_count, "round")
        return "All intervals of CPU and memory are within ±#{Units.percent(wanted_ratio)} after #{rounds}." if widths.max <= wanted_ratio
        "Wanted were intervals of ±#{Units.percent(wanted_ratio)}, which #{rounds} have not reached: the widest is ±#{Units.percent(widths.max)}, so that settings which differ by less can't be told apart."
      end

      PumaTuner::Lab.register self
    end
  end
end
