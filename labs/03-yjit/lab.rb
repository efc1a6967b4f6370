# frozen_string_literal: true

require_relative "measured"
require_relative "service"

module PumaTuner
  module Labs
    # Story 3: what YJIT brought two Rails services in p99 and cost them in memory, and why staging had promised another price.
    class Yjit
      OAUTH = YjitService.new(name: "oauth", title: "the OAuth server", headers: {"Authorization" => "Bearer access", "X-User" => "1"})
      SHOP = YjitService.new(name: "shop_api", title: "the shop's API", headers: {"Authorization" => "Bearer a-key-that-only-this-machine-knows"})
      SERVICES = [OAUTH, SHOP].freeze

      # The one of today first: it is what an interrupted run should have.
      RUBIES = %w[3.4.5 3.3.8].freeze

      # Kinds of requests, the most frequent ones; staging's few, and the points of the curve besides it and all there are.
      STAGING_KINDS = 3
      CURVE_KINDS = [1].freeze

      # Six rounds: the fewest of which an exact 95% interval is made. What published ratios are of, production's mix, and staging's on the
      # older Ruby, has ten in the long form, an exact interval for up to 25 claims, of which that form has 23. Two connections for each worker, so that it always has
      # something to do. One worker in the short form: two would share
      # the calls after which YJIT compiles.
      QUICK = {topology: "1x3", connections_count: 2, rounds_count: 6, turns_count: 2, probe_s: 0}.freeze
      FULL = {topology: "2x3", connections_count: 4, rounds_count: 6, turns_count: 8, probe_s: 1}.freeze

      # Seconds. The long form warms up until little is compiled any more; the short one tells so when it was not enough.
      QUICK_TIMES = {
        "oauth" => {duration_s: 0.6, warmup_window_s: 0.25, warmup_limit_s: 0.75}, "shop_api" => {duration_s: 1.5, warmup_window_s: 0.8, warmup_limit_s: 2.4}
      }.freeze
      FULL_TIMES = {
        "oauth" => {duration_s: 8, warmup_window_s: 4, warmup_limit_s: 30}, "shop_api" => {duration_s: 10, warmup_window_s: 7, warmup_limit_s: 90}
      }.freeze

      PUBLISHED_ROUNDS_COUNT = 10

      # How much of the time between the least warm-up and its limit it took, in the long form of 2026-11-21; the short form's
      # ends at its limit.
      WARMUP_SHARE = {true => 1.0, false => 0.3}.freeze

      # What starting a server takes, about.
      BOOT_S = {"oauth" => 1, "shop_api" => 2}.freeze

      # @param ruby [String] version
      # @return [Hash{String => String}] of a variant that runs with it
      def self.ruby_factor(ruby) = (ruby == RUBY_VERSION) ? {} : {"ruby" => ruby}

      def name = "yjit"

      def title = "YJIT on two Rails services, under production's variety and under staging's"

      def question = "What does YJIT bring a small and a large service in p99, what does it cost them in memory, and why does staging tell another price?"

      def story = 3

      def gems(quick:) = []

      # @return [Array<Lab::Bundle>]
      def bundles(quick:) = SERVICES.map(&:bundle)

      # Gems are installed by it, too, for each Ruby that is here.
      #
      # @param say [#call] told what takes long
      # @raise [UsageError]
      def set_up(say:)
        SERVICES.each { |service| service.set_up(say) }
      end

      # Warm-ups end between the least and the limit.
      def expected_s(quick:)
        cells(quick:).sum { |cell|
          sizes = sizes(cell, quick)
          least_s, limit_s = 3 * sizes.fetch(:warmup_window_s), sizes.fetch(:warmup_limit_s)
          warmup_s = least_s + WARMUP_SHARE.fetch(quick) * [limit_s - least_s, 0].max
          trial_s = BOOT_S.fetch(cell.service) + warmup_s + sizes.fetch(:duration_s) + sizes.fetch(:probe_s) + 0.5
          2 * (sizes.fetch(:rounds_count) * trial_s + BOOT_S.fetch(cell.service) + 0.5)
        }.ceil
      end

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      # @raise [UsageError] when a service is not set up
      def call(run)
        cells = cells(quick: run.quick?)
        SERVICES.each { |service| service.ensure_set_up(cells.map(&:ruby).uniq) }
        void = {}
        measured = YjitMeasured.new(cells.to_h { |cell| [cell, proof_unless_void(run, cell, void)] }.compact)
        run.finding(claims: measured.claims, tables: measured.tables, charts: measured.charts, conclusions: measured.conclusions,
          verdicts: measured.verdicts.transform_keys(&:to_s), unknown: {**measured.unknown(run.quick?), **void})
      end

      # @return [Array<YjitMeasured::Cell>] what is proven: YJIT off against on, in each
      def cells(quick:)
        return SERVICES.product([YjitMeasured::STAGING, YjitMeasured::PRODUCTION]).map { |service, mix| cell(service, RUBY_VERSION, mix) } if quick
        production = RUBIES.product(SERVICES).map { |ruby, service| cell(service, ruby, YjitMeasured::PRODUCTION) }
        # The story's staging is the large service's, and its Ruby the older one.
        staging = RUBIES.map { |ruby| cell(SHOP, ruby, YjitMeasured::STAGING) }
        curve = CURVE_KINDS.map { |count| YjitMeasured::Cell.new(service: SHOP.name, ruby: RUBIES.first, mix: nil, kinds_count: count) }
        whole = YjitMeasured::Cell.new(service: SHOP.name, ruby: RUBIES.first, mix: YjitMeasured::WHOLE, kinds_count: SHOP.kinds_count(whole: true))
        [*production, *staging, *curve, whole]
      end

      private

      def cell(service, ruby, mix)
        YjitMeasured::Cell.new(service: service.name, ruby:, mix:, kinds_count: (mix == YjitMeasured::STAGING) ? STAGING_KINDS : service.kinds_count)
      end

      # Without production's there is nothing to tell; what stands beside it may be void.
      # @return [Prove::Verdict, nil]
      def proof_unless_void(run, cell, void)
        proof(run, cell)
      rescue InvalidMeasurement => error
        raise if cell.mix == YjitMeasured::PRODUCTION
        void[cell.to_s] = error.kept
        nil
      end

      # @return [Prove::Verdict]
      def proof(run, cell)
        sizes = sizes(cell, run.quick?)
        service = SERVICES.find { |one| one.name == cell.service }
        run.served_proof(variants(service, cell, sizes), traffic: traffic(service, cell, sizes, run.seed), out: ->(_) { File::NULL }, title: cell.to_s, **sizes.except(:topology, :connections_count))
      end

      def sizes(cell, quick)
        return {**QUICK, **QUICK_TIMES.fetch(cell.service)} if quick
        {**FULL, **FULL_TIMES.fetch(cell.service), **{rounds_count: (PUBLISHED_ROUNDS_COUNT if published?(cell))}.compact}
      end

      def published?(cell) = cell.mix == YjitMeasured::PRODUCTION || (cell.mix == YjitMeasured::STAGING && cell.ruby == RUBIES.last)

      def variants(service, cell, sizes)
        same = {**service.factors, "topology" => sizes.fetch(:topology), **Yjit.ruby_factor(cell.ruby)}
        {YjitMeasured::OFF => {**same, "yjit" => "off"}, YjitMeasured::ON => {**same, "yjit" => "on"}}
      end

      def traffic(service, cell, sizes, seed)
        Load::Traffic.new(mix: service.traffic(whole: cell.mix == YjitMeasured::WHOLE).mix(cell.kinds_count), generator: Load::Native.new, connections_count: sizes.fetch(:connections_count), seed:).ensure_generator
      end

      PumaTuner::Lab.register self
    end
  end
end

require_relative "memory"
require_relative "options"
require_relative "week"
