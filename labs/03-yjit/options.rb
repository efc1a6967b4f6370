# frozen_string_literal: true

require_relative "service"

module PumaTuner
  module Labs
    # The knobs that story 3 names and did not try, on both of its services: YJIT's memory limit with its call threshold, every pair, until the intervals are
    # narrow enough to recommend one.
    class YjitOptions
      # memory_mib: of what the limit counts in this Ruby; precision_ratio: the half width that the intervals of CPU per request and memory are to have;
      # rounds_count: at most. Few in the short form, which recommends nothing.
      Sizes = Data.define(:services, :topology, :connections_count, :memory_mib, :call_thresholds, :precision_ratio, :rounds_count, :duration_s, :warmup_window_s,
        :warmup_limit_s) do
        def self.quick
          new(services: [Yjit::OAUTH], topology: "1x3", connections_count: 2, memory_mib: [8], call_thresholds: [200], precision_ratio: nil, rounds_count: 2, duration_s: 0.6,
            warmup_window_s: 0.25, warmup_limit_s: 0.75)
        end

        # 48 MiB: Ruby 3.3's default, for code alone.
        def self.full
          new(services: Yjit::SERVICES, topology: "2x3", connections_count: 4, memory_mib: [16, 32, 48], call_thresholds: [5, 100, 200], precision_ratio: 0.03, rounds_count: 16,
            duration_s: 6, warmup_window_s: 3, warmup_limit_s: 40)
        end
      end

      # @param quick [Sizes] of the short form
      # @param full [Sizes]
      def initialize(quick: Sizes.quick, full: Sizes.full)
        @quick = quick
        @full = full
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

      # As many rounds as the intervals take are known after the first eight only; half of the most is what is told before.
      def expected_s(quick:)
        sizes = sizes(quick)
        trial_s = sizes.duration_s + sizes.warmup_limit_s * 0.6 + 2
        (sizes.services.size * menu(sizes).size * (quick ? sizes.rounds_count : sizes.rounds_count / 2) * trial_s).ceil
      end

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      # @raise [UsageError] when a service is not set up
      def call(run)
        sizes = sizes(run.quick?)
        sizes.services.each { |service| service.ensure_set_up([RUBY_VERSION]) }
        verdicts = sizes.services.to_h { |service| [service.name, proof(run, service, sizes)] }
        studies = verdicts.transform_values { |verdict| Tradeoff::Judge.new(verdict, subject: "yjit").call }
        run.finding(claims: [], tables: studies.map { |name, study| table(name, study) }, charts: [], conclusions: studies.map { |name, study| conclusion(name, study) }, verdicts:,
          unknown: run.quick? ? {"which to take" => "the short form has two rounds of few settings, and shows nothing"} : {})
      end

      private

      def sizes(quick) = quick ? @quick : @full

      def menu(sizes) = Tradeoff::Menu.variants(["yjit"], memory_mib: sizes.memory_mib, call_thresholds: sizes.call_thresholds, cross: true)

      # @return [Prove::Verdict]
      def proof(run, service, sizes)
        variants = menu(sizes).to_h { |variant| [variant.name, {**service.factors, "topology" => sizes.topology, **variant.factors}] }
        traffic = Load::Traffic.new(mix: service.traffic.mix(service.kinds_count), generator: Load::Native.new, connections_count: sizes.connections_count, seed: run.seed).ensure_generator
        run.served_proof(variants, traffic:, out: ->(_) { File::NULL }, title: service.title, turns_count: 2, probe_s: 0, precision_ratio: sizes.precision_ratio,
          precise_metrics: %w[cpu_per_request pss], **sizes.to_h.slice(:rounds_count, :duration_s, :warmup_window_s, :warmup_limit_s))
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

      def conclusion(name, study)
        settings = study.recommended_point.settings
        settings = settings.grep_v(/\A(?:app|gemfile)=/)
        "The #{name} service: #{study.recommended}#{" (#{settings.join(", ")})" if settings.any?}. #{study.reason} #{Report::Statements.words(study.verdict.stopped_because).sub(/\A./, &:upcase)}."
      end

      PumaTuner::Lab.register self
    end
  end
end
