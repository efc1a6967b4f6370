# frozen_string_literal: true

require "delegate"
require "etc"
require "net/http"
require "tmpdir"
require_relative "rungs"
require_relative "lines"
require_relative "advised"
require_relative "overload"
require_relative "measured"

module PumaTuner
  module Labs
    # Story 2: a collector of policy reports, moved from a shop's application to bare Rack. Rebuilt rung by rung, with equal
    # answers, lines that are counted, and YJIT in all of them; then climbed further.
    class CspCollector
      include CspRungs

      CONNECTIONS_COUNT = 10 # the story's

      # What ruby-vips, which the shop loads, sets in its own process.
      ALLOWED = [[:env, "VIPSHOME"]].freeze

      # The limit is the shop's, which takes longest until its code is compiled; the others are steady long before.
      QUICK = {rounds_count: 6, duration_s: 0.5, warmup_limit_s: 8, warmup_window_s: 0.3, turns_count: 2, probe_s: 0.3}.freeze
      # Ten are an exact interval for up to 25 claims, which is how many the long form has. Beside the ladder fewer do: what has
      # a claim there has Student's interval, and tables have theirs at 95% each.
      FULL = {rounds_count: 10, duration_s: 2.0, warmup_limit_s: 30, warmup_window_s: 0.7, turns_count: 4, probe_s: 0.5}.freeze

      ROUNDS_COUNTS = {CspMeasured::SHOP_SERVERS_TITLE => 8, CspMeasured::EACH_TITLE => 6, CspMeasured::EACH_OF_DEVELOPMENT_TITLE => 6, CspMeasured::SERVERS => 6,
                       CspMeasured::ERROR_PAGES_TITLE => 6}.freeze

      RECORDING = {warmup_s: 8, record_s: 10}.freeze

      def name = "csp_collector"

      def title = "A collector of policy reports, from a shop to a loop"

      def question = "How much of what a small endpoint costs is the framework around it, and how far can one Ruby process go?"

      def story = 2

      # The shop's gems have no Pitchfork.
      def gems(quick:) = quick ? [] : Lab::Gems.pins({"pitchfork" => PITCHFORK_VERSION})

      def bundles(quick:) = variants(quick:).map { |factors| Lab::Bundle.of(factors, folder: __dir__) }

      # The shop comes with its own set-up, which leaves alone what is there.
      def set_up(say:)
        return if File.file?(File.join(SHOP, ".setup/storefront"))
        say.call("setting up the shop: labs/real_apps/solidus/setup")
        system(Lab::Commands.clean_environment, File.expand_path("../real_apps/solidus/setup", __dir__), unsetenv_others: true) or
          raise UsageError, "the shop could not be set up; run labs/real_apps/solidus/setup, which says why"
      end

      def expected_s(quick:) = quick ? 200 : 5_700

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      def call(run)
        CspLines.open(reports) do |lines|
          traffic = CspTraffic.new(traffic(run.seed), lines)
          void = {}
          sweep = sweep(run, traffic, lines, void) unless run.quick?
          verdicts = proofs(run.quick?, advised: sweep && CspAdvised.choice(sweep)&.topology)
            .filter_map { |title, variants| proof(run, title, variants, traffic, lines, void)&.then { |verdict| [title, verdict] } }.to_h
          verdicts = {**verdicts, **error_pages(run, traffic(run.seed), lines, void, **times(CspMeasured::ERROR_PAGES_TITLE))} unless run.quick?
          measured = CspMeasured.new(verdicts:, overloads: overloads(run, traffic, lines), sweep:)
          run.finding(claims: measured.claims, tables: measured.tables, charts: measured.charts, conclusions: measured.conclusions, verdicts:,
            unknown: {**measured.unknown(run.quick?), **void})
        end
      end

      private

      def variants(quick:) = proofs(quick).values.flat_map(&:values)

      # @param advised [Topology, nil] by the predictor, for bare Rack
      # @return [Hash{String => Hash}] variants by title
      def proofs(quick, advised: nil)
        ladder = {CspMeasured::LADDER => {**LADDER, BEST => LOOP}}
        return ladder if quick
        {**ladder, CspMeasured::SHOP_SERVERS_TITLE => SHOP_SERVERS, CspMeasured::STEP_TITLE => STEP, CspMeasured::EACH_TITLE => EACH_MIDDLEWARE,
                   CspMeasured::EACH_OF_DEVELOPMENT_TITLE => EACH_OF_DEVELOPMENT, CspMeasured::JSON_VERSIONS => JSON_VERSIONS, CspMeasured::SETTINGS_TITLE => CspRungs.settings(advised), CspMeasured::SERVERS => SERVERS}
      end

      def mix = @mix ||= Load::Mix.read(File.join(__dir__, "requests.txt"), data_path: File.join(__dir__, "reports.csv"))

      # @return [Array<Hash>] that are sent
      def reports = mix.requests.flat_map { |request| mix.filled(request, 1).map { |filled| JSON.parse(filled.body) }.to_a }

      def traffic(seed) = Load::Traffic.new(mix:, generator: Load::Native.new, connections_count: CONNECTIONS_COUNT, seed:).ensure_generator

      def times(title) = {**FULL, **{rounds_count: ROUNDS_COUNTS[title]}.compact}

      # Without the ladder there is nothing to tell; what stands beside it may be void, also where its variants turn out to
      # differ in what nobody declared, which is told as a user's error.
      # @return [Prove::Verdict, nil]
      def proof(run, title, variants, traffic, lines, void)
        run.served_proof(variants, traffic:, out: lines.method(:path), title:, allowed: ALLOWED, **(run.quick? ? QUICK : times(title)))
      rescue InvalidMeasurement, UsageError => error
        raise if title == CspMeasured::LADDER
        void[title] = error.kept
        nil
      end

      # Each answers with its own status before anything is measured of it: a variant's name is no proof.
      # @return [Hash{String => Prove::Verdict}] none when it is void
      def error_pages(run, traffic, lines, void, pages: ERROR_PAGES, **times)
        title = CspMeasured::ERROR_PAGES_TITLE
        run.part("statuses of #{title}") { ensure_statuses(pages, lines) }
        # An error page has a body, and an answer 201 has none.
        {title => run.served_proof(pages, traffic: CspErrorTraffic.of(traffic), out: lines.method(:path), title:, allowed: ALLOWED, bodies_may_differ: true, **times)}
      rescue MeasurementFailed, UsageError, SystemCallError, IOError, Timeout::Error => error
        void[title] = error.respond_to?(:kept) ? error.kept : error.message
        {}
      end

      def ensure_statuses(pages, lines)
        variants = pages.map { |name, factors| Prove::Variant.new(name:, factors:) }
        commands = commands(variants, lines)
        variants.each do |variant|
          status = commands.serve(variant) { |server| answer(server.url) }
          wanted = variant.factors.fetch("env.CSP_FAILS", "201")
          raise InvalidMeasurement, "#{variant.name} answers #{status}, and should #{wanted}" unless status == wanted
        end
        lines.clear
        nil
      end

      # @return [String] the status
      def answer(url) = Net::HTTP.post(URI.join(url, "/reports"), JSON.generate(reports.first), "Content-Type" => "application/csp-report").code

      # @return [Predict::Sweep, nil] of bare Rack
      def sweep(run, traffic, lines, void)
        run.note("#{RACK}: recording, and forecasts of workers and threads")
        variant = Prove::Variant.new(name: RACK, factors: BARE)
        run.part("forecasts") { CspAdvised.new(commands([variant], lines), traffic, run).sweep(variant, **RECORDING) }
      rescue InvalidMeasurement => error
        void["what the predictor advises"] = error.kept
        nil
      end

      def commands(variants, lines) = Lab::ServedCommands.new(folder: __dir__, variants:, out: lines.method(:path))

      def overloads(run, traffic, lines)
        variants = {RACK => BARE, WHOLE => FULL_APP, BEST => LOOP}.map { |name, factors| Prove::Variant.new(name:, factors:) }
        overload = CspOverload.new(commands(variants, lines), traffic, lines)
        times = run.quick? ? {capacity_s: 1.5, overload_s: 3} : {capacity_s: 5, overload_s: 10}
        variants.map do |variant|
          run.note("twice the capacity of #{variant.name}")
          run.part("overload of #{variant.name}") { overload.call(variant, **times) }
        end
      end

      PumaTuner::Lab.register self
    end
  end
end
