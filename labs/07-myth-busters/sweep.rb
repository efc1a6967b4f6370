# frozen_string_literal: true

require_relative "field"
require_relative "picks"

module PumaTuner
  module Labs
    class MythBusters
      # Threads against IO: for each share of IO, one recording, and then each number of threads predicted from it and measured.
      class Sweep
        RECORDED_AT = Topology.parse("1x5")
        BOOT_LIMIT_S = 60
        PATH = "/realistic"

        # One number of threads at one share of IO.
        #
        # throughput_per_s, p50_ns, p99_ns: Stats::Estimate, measured; of fewer than two repeats the range is the value
        # gvl_wait_ns: mean per request; nil where it could not be seen
        # forecast: Predict::Forecast; disturbed: why it should not count, or nil
        Cell = Data.define(:io_ratio, :threads, :throughput_per_s, :p50_ns, :p99_ns, :gvl_wait_ns, :forecast, :disturbed)

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
          @asked = Asked.closed(PATH, sizes.clients_count, kept: true)
        end

        # @return [Array<Cell>]
        def call = @sizes.shares.flat_map { |io_ratio| @run.part("sweep #{percent(io_ratio)}") { of_share(io_ratio) } }

        private

        # The rule's number is always among those that are measured.
        def of_share(io_ratio)
          field = @field.with_share(io_ratio, whole_s: @sizes.whole_s)
          threads = [*@sizes.threads, Picks.rule(io_ratio)].uniq.sort
          forecasts = forecasts(field, io_ratio, threads)
          threads.map { |count| cell(field, io_ratio, count, forecasts.fetch(count)) }
        end

        def forecasts(field, io_ratio, threads)
          @run.note("#{percent(io_ratio)} IO: recording and forecasts")
          observation = Lab::Again.after_void(@run) { record(field) }
          sweeper = Predict::Sweeper.new(workload: Model::WorkloadFit.workload(observation), machine: machine(observation), seed: @run.seed,
            seeds_count: @sizes.seeds_count, requests_count: @sizes.requests_count)
          arrivals = Model::Arrivals.closed(@sizes.clients_count)
          sweep = sweeper.call(threads.map { |count| Predict::Scenario.of(Topology.from(1, count), arrivals) })
          threads.to_h { |count| [count, sweep.forecasts.find { |forecast| forecast.topology.threads_count == count && forecast.scenario.arrivals == arrivals }] }
        end

        # With as many clients as threads: nothing but the app is to be in it.
        def record(field)
          traffic = Asked.closed(PATH, RECORDED_AT.slots_count, kept: true).traffic(@run.seed)
          Measure::LoadedWindow.new(command: Entrant.puma(RECORDED_AT.to_s).command(field.environment), traffic:, topology: RECORDED_AT,
            warmup_s: @sizes.warmup_s, duration_s: @sizes.record_s, boot_limit_s: BOOT_LIMIT_S).call
        end

        # As `puma_tuner calibrate` has kept it; the short form otherwise takes typical figures.
        def machine(observation)
          @calibrated ||= Calibrate::Store.new.of(observation) || (calibrate if @sizes.calibrate)
          Model::MachineFit.machine(observation, calibrated: @calibrated)
        end

        def calibrate
          @run.note("calibrating the machine")
          Calibrate.call
        end

        def cell(field, io_ratio, threads, forecast)
          @run.note("#{percent(io_ratio)} IO, #{Units.counted(threads, "thread")}")
          turns, observation = Lab::Again.after_void(@run) { measured(field, threads) }
          budget = observation&.budget
          Cell.new(io_ratio:, threads:, forecast:, throughput_per_s: range(turns, "throughput"), p50_ns: range(turns, "p50"), p99_ns: range(turns, "p99"),
            gvl_wait_ns: budget&.gvl_wait_ns&.fdiv(observation.requests_count), disturbed: turns.filter_map(&:disturbed).first)
        end

        def measured(field, threads)
          field.serving([Entrant.puma("1x#{threads}")]) do |(stand)|
            stand.warm_up(@asked, @sizes.warmup_s)
            turns = Array.new(@sizes.repeats_count) { |number| stand.turn(@asked, @sizes.cell_s, seed: @run.seed + number) }
            [turns, stand.observe(@asked, @sizes.probe_s)]
          end
        end

        def range(turns, metric) = Stats::Estimate.of_range(turns.map { |turn| turn.value(metric) })

        def percent(ratio) = "#{(ratio * 100).round}%"
      end
    end
  end
end
