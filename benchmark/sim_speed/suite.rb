# frozen_string_literal: true

%w[rounds options judge page].each { |name| require_relative name }

module SimSpeed
  # A whole run: measures, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/sim_speed.md", __dir__)

    # @param options [Options]
    def initialize(options)
      @options = options
    end

    # @return [Integer] the exit status
    def run
      raise PumaTuner::UserMistake, Engine.why_not if Engine.why_not
      machine = PumaTuner::Probe::MachineFacts.read
      simpy = Simpy.new
      warn "left out: #{simpy.why_not}" if simpy.why_not
      raise PumaTuner::UserMistake, "a page without SimPy is not written" if @options.write && simpy.why_not
      rounds = Rounds.new(rounds_count: @options.rounds_count, quick: @options.quick, simpy:).tap(&:run)
      conclude(machine, rounds, simpy.version || simpy.why_not)
    end

    private

    def conclude(machine, rounds, simpy)
      measured = {runs: rounds.runs, sweeps: rounds.sweeps}
      verdicts = Judge.verdicts(**measured)
      page = Page.new(machine:, **measured, verdicts:, simpy:)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      verdicts.any?(&:missed?) ? 1 : 0
    end
  end
end
