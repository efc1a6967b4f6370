# frozen_string_literal: true

%w[tools workloads options truth sample results judge table page burners trial blame/scenarios blame/sample].each { |name| require_relative name }

module Accuracy
  # A whole run: measures, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/accuracy.md", __dir__)

    # @param options [Options]
    def initialize(options)
      @options = options
      @results = Results.new
    end

    # @return [Integer] the exit status
    def run
      machine = PumaTuner::Probe::MachineFacts.read
      @trial = Trial.new(scale: @options.scale)
      @blame = (@options.blame && @options.tools.include?(Tools::OURS)) ? blame_rounds : {}
      @options.conditions.each { |condition| under(condition) { rounds(condition) } }
      verdicts = Judge.verdicts(@results, conditions: @options.conditions, workloads: @options.workloads) + Judge.blame_verdicts(@blame)
      page = Page.new(machine:, options: @options, results: @results, blame: @blame, verdicts:)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      Script.status(verdicts.map(&:outcome))
    end

    private

    # @return [Hash{Blame::Scenarios::Entry => Array<Blame::Sample, Failure>}]
    def blame_rounds
      @options.rounds_count.times.flat_map { |round|
        warn "accuracy: who held the GVL, round #{round + 1} of #{@options.rounds_count}"
        Blame::Scenarios::ALL.map { |scenario| [scenario, @trial.blame(scenario)] }
      }.group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
    end

    def under(condition, &) = (condition == "loaded") ? Burners.run(&) : yield

    # Every tool once a round and workload, each time beginning with another one.
    def rounds(condition)
      @options.rounds_count.times do |round|
        @options.workloads.each_with_index do |workload, index|
          warn "accuracy: #{condition}, round #{round + 1} of #{@options.rounds_count}, #{workload}"
          @options.tools.rotate(round + index).each do |tool|
            @results.add(condition, workload, tool, @trial.run(Tools.entry(tool), workload))
          end
        end
      end
    end
  end
end
