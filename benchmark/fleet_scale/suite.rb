# frozen_string_literal: true

%w[options trial page].each { |name| require_relative name }

module FleetScale
  # A whole run: writes, asks, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/fleet_scale.md", __dir__)

    # @param options [Options]
    def initialize(options)
      @options = options
    end

    # @return [Integer] the exit status
    def run
      raise PumaTuner::UserMistake, PrometheusProcess.why_not if PrometheusProcess.why_not
      RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)
      machine = PumaTuner::Probe::MachineFacts.read
      outcomes = trials.map { |trial| trial.run.tap { |outcome| warn "  #{outcome.workers_count} workers, #{outcome.hours_count} h, #{outcome.source}: #{outcome.comparison_s.round(2)} s" } }
      page = Page.new(machine:, outcomes:, options: @options)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      page.missed? ? 1 : 0
    end

    private

    def trials
      others = {services_count: @options.services_count, rounds_count: @options.rounds_count}
      [*@options.raw_workers_counts.map { |count| Trial.new(count, @options.raw_hours_count, source: :raw, **others) },
        Trial.new(@options.workers_count, @options.hours_count, source: :rules, **others)]
    end
  end
end
