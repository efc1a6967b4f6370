# frozen_string_literal: true

require_relative "ladder_tables"

module PumaTuner
  module Labs
    # What the ladder's rounds and the overload say: claims, charts, sentences. The tables: CspLadderTables.
    class CspMeasured
      include CspRungs

      LADDER = "the ladder"
      JSON_VERSIONS = "versions of json"
      SETTINGS_TITLE = "settings of the bare Rack rung"
      SERVERS = "the bare Rack rung under other servers"

      SHOP_SERVERS_TITLE = "the shop under Pitchfork, as published"
      STEP_TITLE = "the step from a new Rails app to a thin one, taken apart"
      EACH_TITLE = "each middleware"
      EACH_OF_DEVELOPMENT_TITLE = "each middleware that only development has"
      ERROR_PAGES_TITLE = "error pages"

      # As published: requests/s on an Apple M1 Max.
      PUBLISHED_PER_S = {MONOLITH => 289.47, RAILS => 5_550.35, THIN => 11_071.26, RACK => 24_257.29}.freeze

      ERRORS = "the published first figure is of 2,914 error pages, all of 2,914 answers"
      STEPS = {
        [RAILS, MONOLITH] => ERRORS,
        [THIN, RAILS] => nil,
        [RACK, THIN] => "published with YJIT on in the one and off in the other; here it is on in both",
        [RACK, MONOLITH] => ERRORS
      }.freeze

      # By settings: what was published as one step, and what it is held over.
      STEP_IN_SETTINGS = {"production" => [NO_MIDDLEWARES, RAILS], "development" => [NO_MIDDLEWARES_IN_DEVELOPMENT, IN_DEVELOPMENT]}
        .transform_values { |of, over| ["#{of}, #{TWO_THREADS}", over] }.freeze

      TARGET = 2

      # @param verdicts [Hash{String => Prove::Verdict}] by title; the ladder at least
      # @param overloads [Array<CspOverload::Result>]
      # @param sweep [Predict::Sweep, nil] of bare Rack
      def initialize(verdicts:, overloads:, sweep: nil)
        @verdicts = verdicts
        @overloads = overloads
        @sweep = sweep
        @ladder = verdicts.fetch(LADDER)
      end

      # @return [Array<Lab::Claim>]
      def claims = [*steps, *servers_of_shop, *taken_apart, *error_pages, *json_step, *beyond, *advised, *nothing_lost]

      # @return [Array<Lab::Table>]
      def tables = CspLadderTables.new(@verdicts, @overloads).call

      # @return [Array<Lab::Chart>]
      def charts
        ticks = rungs.each_with_index.map { |name, index| [index, name] }
        [
          Lab::Chart.new(id: "ladder", title: "The ladder: times as fast as the first rung", across: Lab::Axis.new(name: "rung", ticks:), up: Lab::Axis.new(name: "times as fast"),
            series: [published, series("measured, requests/s", "throughput"), series("measured, CPU time", "cpu_per_request")],
            reading: "published figures end with bare Rack. Points are middles with their intervals of 95%; lines only lead the eye from one rung to the next."),
          Lab::Chart.new(id: "cpu", title: "CPU time of a request", across: Lab::Axis.new(name: "rung", ticks: ticks.drop(1).map { |place, name| [place - 1, name] }),
            up: Lab::Axis.new(name: "CPU per request", unit: "µs"), series: [cpu_series],
            reading: "without the first rung, beside which the others would not be seen. Points are middles of the rounds, with their range.")
        ]
      end

      # @return [Array<String>]
      def conclusions = [total_sentence, stack_sentence, best_sentence, rest_sentence, overload_sentence].compact

      # @return [Hash{String => String}]
      def unknown(quick)
        return {} unless quick
        {"Pitchfork under the shop, single middlewares, development's settings, error pages, versions of json, YJIT's and other settings, other servers" => "the short form measures the ladder and the overload only"}
      end

      private

      def rungs = @ladder.cells.map(&:variant)

      # @return [Lab::Ratios::OfRounds, nil] how many times as fast
      def speed(verdict, of:, over:, metric: "cpu_per_request")
        (metric == "throughput") ? Lab::Ratios.of(verdict, metric, of:, over:) : Lab::Ratios.of(verdict, metric, of: over, over: of)
      end

      def steps
        STEPS.flat_map do |(rung, before), note|
          ratio = PUBLISHED_PER_S.fetch(rung) / PUBLISHED_PER_S.fetch(before)
          published = "#{Report::Figures.count(PUBLISHED_PER_S.fetch(rung).round)} over #{Report::Figures.count(PUBLISHED_PER_S.fetch(before).round)} requests/s"
          [Lab::Claim.of_ratio("#{rung} over #{before}, requests/s", speed(@ladder, of: rung, over: before, metric: "throughput"), published:, published_ratio: ratio, note:),
            Lab::Claim.of_ratio("#{rung} over #{before}, by CPU time", speed(@ladder, of: rung, over: before), published:, published_ratio: ratio, note:)]
        end
      end

      def requests_ratio(verdict, of, over, text, **published)
        Lab::Claim.of_ratio("#{text}, requests/s", speed(verdict, of:, over:, metric: "throughput"), **published)
      end

      def servers_of_shop
        verdict = @verdicts[SHOP_SERVERS_TITLE] or return []
        [requests_ratio(verdict, ON_PITCHFORK, MONOLITH, "#{ON_PITCHFORK} over the shop on Puma")]
      end

      # The published step, which changed the threads, too, in either settings; and the threads by themselves.
      def taken_apart
        verdict = @verdicts[STEP_TITLE] or return []
        published = {published: "11,071 over 5,550 requests/s", published_ratio: PUBLISHED_PER_S.fetch(THIN) / PUBLISHED_PER_S.fetch(RAILS)}
        [
          *STEP_IN_SETTINGS.map do |settings, (of, over)|
            requests_ratio(verdict, of, over, "no middlewares and two threads over all and three, in #{settings}'s settings", **published)
          end,
          requests_ratio(verdict, TWO_THREADS, RAILS, "two threads over three, all else the same")
        ]
      end

      # The published factor, over each page that may have been meant.
      def error_pages
        verdict = @verdicts[ERROR_PAGES_TITLE] or return []
        FAILING.keys.flat_map do |page|
          [requests_ratio(verdict, RACK, page, "#{RACK} over the #{page}", published: "84x, of an error page", published_ratio: PUBLISHED_PER_S.fetch(RACK) / PUBLISHED_PER_S.fetch(MONOLITH)),
            requests_ratio(verdict, page, MONOLITH, "the #{page} over its answer 201")]
        end
      end

      def json_step
        verdict = @verdicts[JSON_VERSIONS] or return []
        [requests_ratio(verdict, "json 2.8.1", "json 2.7.2", "json 2.8.1 over 2.7.2",
          published: "24,257.29 over 23,522.80 requests/s", published_ratio: 24_257.29 / 23_522.80)]
      end

      def beyond
        [Lab::Claim.of_ratio("#{BEST} over #{RACK}, by CPU time", best, note: wanted(TARGET, best)),
          Lab::Claim.of_ratio("#{BEST} over #{MONOLITH}, requests/s", total, note: wanted(84, total)),
          Lab::Claim.of_ratio("#{BEST} over #{MONOLITH}, by CPU time", speed(@ladder, of: BEST, over: MONOLITH))]
      end

      # What the predictor promised is held against what was measured, as a publication is.
      def advised
        choice = @sweep && CspAdvised.choice(@sweep)
        verdict = @verdicts[SETTINGS_TITLE]
        return [] unless choice && verdict && choice.topology != @sweep.today
        expected = @sweep.ratio(choice, @sweep.at(@sweep.today), :throughput_per_s)
        [Lab::Claim.of_ratio("#{choice.topology}, as the predictor advises, over #{RACK} at #{@sweep.today}, requests/s",
          speed(verdict, of: CspRungs.advised_name(choice.topology), over: RACK, metric: "throughput"),
          published: "predicted: #{Report::Figures.ratio(expected)}", published_ratio: expected.value)]
      end

      # That a ratio is clear of 1 does not say that it is what was aimed at.
      def wanted(least, ratio) = "wanted: #{least}x at least, which #{(ratio.low >= least) ? "the whole interval is" : "is not shown"}, by its own 95%: #{Report::Figures.ratio(ratio)}"

      def nothing_lost
        @overloads.map do |result|
          Lab::Claim.of_count("answers 201 that are no line, #{result.variant}, at twice its capacity", expected: 0, counted: result.lost_count + result.surplus_count)
        end
      end

      def best = speed(@ladder, of: BEST, over: RACK)

      def total = speed(@ladder, of: BEST, over: MONOLITH, metric: "throughput")

      def published
        points = rungs.each_with_index.filter_map { |name, index| [index, PUBLISHED_PER_S[name] / PUBLISHED_PER_S[MONOLITH], nil, nil] if PUBLISHED_PER_S[name] }
        Lab::Series.new(title: "published, requests/s", points:)
      end

      def series(title, metric)
        points = rungs.each_with_index.map do |name, index|
          next [index, 1, nil, nil] if name == MONOLITH
          estimate = speed(@ladder, of: name, over: MONOLITH, metric:)
          [index, estimate.value, estimate.low, estimate.high]
        end
        Lab::Series.new(title:, points:)
      end

      def cpu_series
        points = @ladder.cells.drop(1).each_with_index.map do |cell, index|
          estimate = cell.estimates.fetch("cpu_per_request")
          [index, *[estimate.value, estimate.low, estimate.high].map { |ns| ns / Units::NS_PER_US.to_f }]
        end
        Lab::Series.new(title: "measured", points:)
      end

      def total_sentence
        rack = speed(@ladder, of: RACK, over: MONOLITH, metric: "throughput")
        by_cpu = speed(@ladder, of: BEST, over: MONOLITH)
        "By the story's own means, from the shop to bare Rack, requests/s are #{Report::Figures.ratio(rack)} " \
          "(published: 84x, of an error page; 50x in the title). " \
          "The #{BEST}, which is no web server, has #{Report::Figures.ratio(total)} of the shop's, and " \
          "#{Report::Figures.ratio(by_cpu)} by CPU time." \
          "#{unsteady_shop}"
      end

      def stack_sentence
        verdict = @verdicts[STEP_TITLE] or return
        told = STEP_IN_SETTINGS.map do |settings, (of, over)|
          "#{Report::Figures.ratio(speed(verdict, of:, over:, metric: "throughput"))} in #{settings}'s settings"
        end
        "Rails has #{IN_PRODUCTION.size} middlewares for such an app in production, and #{IN_PRODUCTION.size + ONLY_IN_DEVELOPMENT.size} in development: as many as were removed. Without them, and with two threads for three, " \
          "requests/s are #{Report::Figures.list(told)} (published: 2.0x)."
      end

      # A process that still compiles is slower than it will be, and what is held against it looks faster.
      def unsteady_shop
        count = @ladder.cells.first.unsteady_count
        " In #{count} of #{@ladder.rounds_count} rounds the shop had not warmed up: these factors are too large." if count.positive?
      end

      def best_sentence
        reached = if best.low >= TARGET then "which is #{TARGET} times at least, as was wanted"
        else "which does not show the #{TARGET} times that were wanted"
        end
        "One process of Ruby alone, with a loop in the place of a web server, takes #{Report::Figures.ratio(best)} less CPU time for a request than bare Rack on Puma, #{reached}."
      end

      def rest_sentence
        result = @overloads.find { |overload| overload.variant == BEST } or return
        return unless result.kernel_ratio
        "Of what is left, #{Units.percent(result.kernel_ratio)} is spent in the kernel: reading the request, writing the line, writing the answer."
      end

      def overload_sentence
        return if @overloads.empty?
        return "Under twice the load that they can take, answers 201 and lines do not agree." if @overloads.sum { |result| result.lost_count + result.surplus_count }.positive?
        "At twice the load that they can take, #{Report::Figures.list(@overloads.map(&:variant))} lose nothing that they have answered 201: requests wait, and so do those who send them."
      end
    end
  end
end
