# frozen_string_literal: true

require "tmpdir"
%w[options variant difference series judge table page rounds parts cycle cycle/helper request].each { |name| require_relative name }

module Overhead
  # A whole run: measures, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/overhead.md", __dir__)

    # @param options [Options]
    def initialize(options)
      @options = options
    end

    # @return [Integer] the exit status
    def run
      machine = PumaTuner::Probe::MachineFacts.read
      leave_out_what_is_missing
      parts = Dir.mktmpdir("overhead") do |folder|
        stay_on_one_core(folder)
        Parts.build(folder) if @options.parts.include?("cycle") && @options.tools.include?("ours")
        @options.parts.map { |name| part(name, folder).tap(&:run) }
      end
      series = parts.flat_map(&:series)
      verdicts = Judge.verdicts(series)
      page = Page.new(machine:, parts:, verdicts:)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      Script.status(verdicts.map(&:outcome))
    end

    private

    def leave_out_what_is_missing
      missing = Variant.missing(@options.tools)
      return if missing.empty?
      raise PumaTuner::UserMistake, "a page without #{missing.join(", ")} is not written; install gemfiles/rivals.gemfile" if @options.write
      warn "not in this bundle, and left out: #{missing.join(", ")}"
    end

    # What a switch between threads costs depends on the cores they happen to be on. With all on one, client included, two
    # equal servers differ by some 2 % of the CPU per request where they did by 20 %, and 32 threads in one process by 2 %
    # where they did by 30 %.
    def stay_on_one_core(folder)
      Helper.build(folder)
      require File.join(folder, "overhead_cycle")
      OverheadCycle.stay or warn "this process can't be kept on one core; expect more noise"
    end

    def part(name, folder)
      part = {"cycle" => Cycle, "request" => Request}.fetch(name)
      rounds_count = @options.rounds_count || (@options.quick ? 2 : part::ROUNDS_COUNT)
      part.new(variants: Variant.chosen(name, @options.tools), rounds_count:, quick: @options.quick, folder:)
    end
  end
end
