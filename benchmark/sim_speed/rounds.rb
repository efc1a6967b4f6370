# frozen_string_literal: true

require "json"
require "rbconfig"
require_relative "../overhead/rounds"
require_relative "engine"
require_relative "simpy"

module SimSpeed
  # Everything that is timed, in rounds, so that what the machine does to one it does to the others.
  class Rounds
    ROUNDS_COUNT = 8
    QUEUE_REQUESTS_COUNT = 1_000_000
    APP_REQUESTS_COUNT = 200_000
    SIMPY_REQUESTS_COUNT = 100_000
    SWEEP_REQUESTS_COUNT = 20_000
    SWEEP_LIMIT_S = 300
    SWEEP = File.expand_path("sweep_child.rb", __dir__)
    LIBRARY = File.expand_path("../../lib", __dir__)

    # One sweep: its time, and the most memory that its process had at any moment.
    Sweep = Data.define(:seconds, :peak_bytes, :forecasts_count)

    # Each simulator twice: what a pair of equals differs by is noise.
    VARIANTS = {"queue" => "our core, M/M/5", "queue_again" => "our core, M/M/5, again", "simpy" => "SimPy, M/M/5", "simpy_again" => "SimPy, M/M/5, again",
                "app" => "our core, a web app", "app_again" => "our core, a web app, again"}.freeze

    # @return [Hash{String => Array<Run>}] by variant; without SimPy's where it can't be had
    attr_reader :runs

    # @return [Array<Sweep>]
    attr_reader :sweeps

    # @param simpy [Simpy]
    def initialize(rounds_count:, quick:, simpy: Simpy.new)
      @rounds_count = rounds_count || (quick ? 2 : ROUNDS_COUNT)
      @share = quick ? 20 : 1
      @simpy = simpy
      @runs = VARIANTS.keys.reject { |name| name.start_with?("simpy") && simpy.why_not }.to_h { |name| [name, []] }
      @sweeps = []
    end

    def run
      @rounds_count.times do |round|
        warn "sim_speed: round #{round + 1} of #{@rounds_count}"
        Overhead::Rounds.order(@runs.keys, round).each { |name| @runs.fetch(name) << one(name, round + 1) }
        @sweeps << sweep
      end
    end

    private

    def one(name, seed)
      case name.delete_suffix("_again")
      when "queue" then Engine.queue(requests_count: QUEUE_REQUESTS_COUNT / @share, seed:)
      when "app" then Engine.app(requests_count: APP_REQUESTS_COUNT / @share, seed:)
      else @simpy.call(Models::QUEUE, requests_count: SIMPY_REQUESTS_COUNT / @share, seed:)
      end
    end

    def sweep
      command = [RbConfig.ruby, "-I", LIBRARY, SWEEP, (SWEEP_REQUESTS_COUNT / @share).to_s]
      output, status = PumaTuner::Load::Child.output_of(command, limit_s: SWEEP_LIMIT_S)
      raise PumaTuner::UserMistake, "the sweep failed: #{output.to_s.lines.first}" unless status&.success?
      Sweep.new(**JSON.parse(output.lines.last, symbolize_names: true))
    end
  end
end
