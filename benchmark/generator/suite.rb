# frozen_string_literal: true

%w[cost lag options judge page].each { |name| require_relative name }

module GeneratorBenchmark
  # A whole run: measures, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/generator.md", __dir__)

    # @param options [Options]
    def initialize(options)
      @options = options
    end

    # @return [Integer] the exit status
    def run
      machine = PumaTuner::Probe::MachineFacts.read
      cost, lag = part(Cost), part(Lag)
      verdicts = Judge.verdicts(cost: cost.series, lag: lag.series)
      page = Page.new(machine:, cost: cost.series, lag: lag.series, verdicts:, tools:)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      verdicts.any?(&:missed?) ? 1 : 0
    end

    private

    LEFT_OUT = Data.define(:series).new(series: [])
    private_constant :LEFT_OUT

    def part(part)
      return LEFT_OUT unless @options.parts.include?(part.name[/\w+\z/].downcase)
      part.new(rounds_count: @options.rounds_count, quick: @options.quick).tap(&:run)
    end

    def tools = [PumaTuner::Load::Native.new, PumaTuner::Load::Wrk.new].map(&:name).join(", ")
  end
end
