# frozen_string_literal: true

require "tmpdir"
require_relative "../../benchmark/fleet_scale/trial"

module PumaTuner
  module Labs
    # Story 3's two weeks, as their servers would have told them to Prometheus: two services, a week without YJIT and a week with it, written into a real
    # Prometheus and compared by `puma_tuner fleet`. What is written is made of the published figures, so that it is known what must come out: it shows what the
    # comparison would have said of their fleet, with its intervals, and nothing about YJIT.
    class YjitWeek
      MIB = Units::MIB
      LIMIT_BYTES = 48 * MIB

      # Of story 3. servers_count, workers_count: how their memory is divided here, which was not published; code_mib: of each worker of a server, whose mean was
      # published: some workers are larger than others, and none than Ruby 3.3 lets them be.
      Story = Data.define(:name, :p99_ms, :memory_mib, :code_mib, :published_code_mib, :servers_count, :workers_count, :rate_per_worker_s) do
        def p99_ratio = p99_ms.last.fdiv(p99_ms.first)

        def memory_ratio = memory_mib.last.fdiv(memory_mib.first)
      end

      AUTHORIZATION = Story.new(name: "authorization", p99_ms: [47, 42], memory_mib: [541, 650], code_mib: [7.3, 8.1], published_code_mib: 7.7, servers_count: 1, workers_count: 2,
        rate_per_worker_s: 20.0)
      RESOURCE = Story.new(name: "resource", p99_ms: [549, 445], memory_mib: [64.3 * 1_024, 84.2 * 1_024], code_mib: [37.6, 42.3, 44.1, 47.6], published_code_mib: 42.9, servers_count: 4,
        workers_count: 4, rate_per_worker_s: 5.0)

      # days_count: of each week; step_s: between two samples
      Sizes = Data.define(:days_count, :step_s) do
        def self.quick = new(days_count: 6, step_s: 1_200)

        def self.full = new(days_count: 7, step_s: 300)
      end

      # One service in one week, as its exporters tell it; a simulated fleet of one group with the story's figures.
      class Week < FleetScale::SimulatedFleet
        # @param story [Story]
        # @param yjit [Boolean]
        # @param times [Array<Integer>]
        def initialize(story, yjit:, times:)
          super(workers_count: 2 * story.workers_count, workers_per_server: story.workers_count, times:, endpoints: FleetScale::SimulatedFleet.endpoints(6),
                rate_per_worker_s: story.rate_per_worker_s, speed_ratio: 1.0, seed: yjit ? 2 : 1)
          @story = story
          group = yjit ? "b" : "a"
          @servers = Array.new(story.servers_count) { |index| {index:, group:, service: story.name} }
          # Durations are spread as before, and their p99 is the published one.
          factor = story.p99_ms[yjit ? 1 : 0] / 1e3 / true_quantile_s("a", 0.99)
          @endpoints = @endpoints.map { |endpoint| endpoint.with(median_s: endpoint.median_s * factor) }
          @memory = [story.memory_mib[yjit ? 1 : 0] * MIB / story.servers_count / story.workers_count].then { |bytes| {"a" => bytes.first, "b" => bytes.first} }
        end

        private

        # Larger by day than by night, by some per cent.
        def memory_bytes(group, index) = super * (1 + 0.03 * Math.sin(2 * Math::PI * (@times[index] % 86_400) / 86_400))

        def code_bytes(worker) = @story.code_mib[worker % @story.code_mib.size] * MIB
      end

      def name = "yjit_week"

      def title = "Two weeks of two services, through Prometheus and fleet"

      def question = "What would `puma_tuner fleet` have told of the published fleet: a week without YJIT, and a week with it?"

      def story = 3

      def gems(quick:) = []

      # @param say [#call]
      # @raise [UsageError] without a Prometheus
      def set_up(say:) = ensure_prometheus

      def expected_s(quick:) = quick ? 60 : 420

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      # @raise [UsageError] without a Prometheus
      def call(run)
        ensure_prometheus
        comparisons = [AUTHORIZATION, RESOURCE].to_h { |story| [story, run.part("week of #{story.name}") { compare(run, story, run.quick? ? Sizes.quick : Sizes.full) }] }
        run.finding(claims: comparisons.flat_map { |story, comparison| claims(story, comparison) }, tables: comparisons.map { |story, comparison| table(story, comparison) }, charts: [],
          conclusions: comparisons.flat_map { |story, comparison| sentences(story, comparison) }, verdicts: {},
          unknown: {"what YJIT did to that fleet" => "its samples are made of what was published: this shows how the comparison tells it"})
      end

      # @param story [Story]
      # @param sizes [Sizes]
      # @param ends_s [Integer] of the second week
      # @return [Fleet::Comparison] of the second week with the first
      def compare(run, story, sizes, ends_s: Time.now.to_i / 86_400 * 86_400)
        week_s = sizes.days_count * 86_400
        Dir.mktmpdir("yjit_week") do |folder|
          backfill = FleetScale::Backfill.new(File.join(folder, "data"), folder, block_s: FleetScale::Backfill::LONG_BLOCK_S)
          [[false, ends_s - week_s], [true, ends_s]].each do |yjit, week_ends_s|
            run.note("writing the week #{yjit ? "with" : "without"} YJIT of the #{story.name} service into Prometheus")
            times = ((week_ends_s - week_s - 2 * sizes.step_s)..week_ends_s).step(sizes.step_s).to_a
            week = Week.new(story, yjit:, times:)
            backfill.in_blocks(times) { |only, io| week.write(io, only:) }
          end
          run.note("asking Prometheus")
          PrometheusProcess.open(folder) { |prometheus| ask(prometheus, story, ends_s, week_s, run.seed) }
        end
      end

      private

      def ensure_prometheus
        reason = PrometheusProcess.why_not
        raise UsageError, reason if reason
      end

      def ask(prometheus, story, ends_s, week_s, seed)
        selectors = %w[off on].map { |value| Fleet::Selector.parse("{service=\"#{story.name}\",yjit=\"#{value}\"}") }
        question = Fleet::Reader::Question.new(selectors:, ends: [ends_s - week_s, ends_s], duration_s: week_s, step_s: nil, source: "raw", by: nil,
          all: Fleet::Selector.parse("{service=\"#{story.name}\"}"), seed:)
        Fleet::Reader.new(Fleet::Prometheus.new(prometheus.url, timeout_s: 300), question).call
      end

      def claims(story, comparison)
        {"p99" => ["p99", story.p99_ratio, "#{story.p99_ms.join(" → ")} ms"],
         "memory" => ["memory, sum", story.memory_ratio, story.memory_mib.map { |mib| Units.mebibytes((mib * MIB).round) }.join(" → ")]}.map do |row, (words, ratio, published)|
          Lab::Claim.of_ratio("the #{story.name} service: #{words}, the second week over the first, by fleet", comparison.row(row).ratio, published:, published_ratio: ratio,
            note: "The week was made of the published figure: what is measured is the comparison.")
        end
      end

      def table(story, comparison)
        rows = %w[p99 memory code].map { |name| comparison.row(name) }.compact.map do |row|
          [row.label, *[row.a, row.b].map { |number| told(row.unit, number) }, row.ratio ? Report::Figures.ratio(row.ratio) : "-", row.outcome.to_s.tr("_", " ")]
        end
        Lab::Table.new(title: "The #{story.name} service, by puma_tuner fleet", headings: ["", "without YJIT", "with YJIT", "ratio", "outcome"], rows:,
          notes: ["Published: p99 #{story.p99_ms.join(" → ")} ms, memory #{story.memory_mib.map { |mib| Units.mebibytes((mib * MIB).round) }.join(" → ")}, code_region_size #{story.published_code_mib} MiB. " \
            "Intervals by a bootstrap over #{Units.counted(comparison.blocks_count, "block")}."])
      end

      def told(unit, number)
        return "-" unless number
        (unit == "ns") ? Units.duration(number) : "#{Units.significant(number.fdiv(MIB))} MiB"
      end

      # What was published of the resource server says this much of its workers, whatever they did in detail.
      def sentences(story, comparison)
        mean_ratio = story.published_code_mib * MIB / LIMIT_BYTES
        fullest = comparison.services.filter_map(&:code_limit_ratio).max
        return [] if mean_ratio < Probe::YjitLimit::ALARM_RATIO - 0.05
        ["#{story.published_code_mib} MiB of machine code in the mean is #{format("%.0f%%", mean_ratio * 100)} of Ruby 3.3's default limit (48 MiB): where workers differ, some may have stopped compiling. " \
          "fleet names it#{", with the fullest worker of this one at #{format("%.0f%%", fullest * 100)}" if fullest}."]
      end

      PumaTuner::Lab.register self
    end
  end
end
