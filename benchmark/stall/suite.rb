# frozen_string_literal: true

require_relative "trial"
require_relative "page"

module StallBenchmark
  # A whole run: measures, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/stall.md", __dir__)
    CONNECTIONS_COUNT = 20
    SelfTest = PumaTuner::Load::SelfTest
    private_constant :SelfTest

    # @param write [Boolean] whether to write the page
    def initialize(write:)
      @write = write
    end

    # @return [Integer] the exit status
    def run
      machine = PumaTuner::Probe::MachineFacts.read
      missing, there = %w[wrk hey h2load].map { |name| PumaTuner::Load.generator(name) }.partition(&:why_not)
      missing.each { |generator| warn "left out: #{generator.why_not}" }
      raise PumaTuner::UserMistake, "a page without them is not written" if @write && missing.any?
      trials = [ours, *there.map { |generator| rival(generator) }]
      page = Page.new(machine:, trials:)
      puts page.results
      File.write(PAGE, page.to_s) if @write
      trials.first.right? ? 0 : 1
    end

    private

    def ours
      generator = PumaTuner::Load::Native.new
      result = SelfTest.new.call
      Trial.new(name: generator.name, load: "even arrivals, 200/s", at_rate: true, percentiles_ns: result.lines.to_h { |line| [line.name, line.reported_ns] },
        requests_count: result.answered_count, late_ns: result.server_late_ns)
    end

    # wrk knows no rate; the others get the same one.
    def rival(generator)
      arrivals = generator.is_a?(PumaTuner::Load::Wrk) ? PumaTuner::Load::Arrivals.closed : PumaTuner::Load::Arrivals.open(SelfTest::RATE_PER_S, kind: "even")
      PumaTuner::Load::StallServer.run do |server|
        outcome = generator.run(mix: PumaTuner::Load::Mix.of_paths(["/"]), url_base: server.url, connections_count: CONNECTIONS_COUNT,
          duration_s: SelfTest::DURATION_S, seed: 1, arrivals:)
        Trial.new(name: generator.name, load: "#{arrivals}, #{CONNECTIONS_COUNT} connections", at_rate: arrivals.open?, requests_count: outcome.requests_count,
          percentiles_ns: {"p50" => outcome.p50_ns, "p90" => outcome.p90_ns, "p99" => outcome.p99_ns}, late_ns: server.finish_ns)
      end
    end
  end
end
