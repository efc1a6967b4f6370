# frozen_string_literal: true

%w[tools workloads options truth sample results judge table page burners trial].each { |name| require_relative name }

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
      machine = PumaTuner::Host::MachineFacts.read
      @trial = Trial.new(scale: @options.scale)
      @options.conditions.each { |condition| under(condition) { rounds(condition) } }
      verdicts = Judge.verdicts(@results, conditions: @options.conditions, workloads: @options.workloads)
      page = Page.new(machine:, options: @options, results: @results, verdicts:)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      verdicts.any?(&:missed?) ? 1 : 0
    end

    private

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
