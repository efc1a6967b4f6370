# frozen_string_literal: true

require_relative "grid"
require_relative "session"

module Validation
  # The one look at a subject that its predictions may use: a window of `puma_tuner measure`, with the probe; or the windows of `puma_tuner tune`, at
  # several settings.
  class Recorder
    # @param servers [Servers]
    # @param form [Symbol] of Grid::FORMS
    # @param fastest [Float] speed of the machine that nobody disturbs, see Speed
    def initialize(servers:, form:, fastest:)
      @fastest = fastest
      @servers = servers
      @form = form
    end

    # A recording that others disturbed would spoil all that is predicted from it: it is made again, so many times.
    ATTEMPTS_COUNT = 3

    # foreign_cpu_ratio: of the machine, what others used meanwhile; turns_per_ms: its speed, fastest: the most that was seen
    Recording = Data.define(:observation, :foreign_cpu_ratio, :turns_per_ms, :fastest) do
      # @return [String, nil] why it must not count, as a clause
      def disturbed
        if foreign_cpu_ratio > PumaTuner::Prove::Disturbance::FOREIGN_CPU_RATIO
          "others used #{PumaTuner::Units.percent(foreign_cpu_ratio)} of the machine while it was recorded"
        else
          Speed.difference(turns_per_ms, fastest, "at its best while it was recorded")
        end
      end
    end

    # @return [Boolean] whether this version of `tune` records more than today's settings
    def self.companions? = PumaTuner::Measure.const_defined?(:Recordings)

    # @param subject [Subject]
    # @param recorded_at [RecordedAt]
    # @return [Recording] an undisturbed one, or the fastest
    def call(subject, recorded_at)
      recordings = []
      ATTEMPTS_COUNT.times do
        recordings << watched { observation(subject, recorded_at) }
        break unless recordings.last.disturbed
      end
      recordings.reject(&:disturbed).first || recordings.max_by(&:turns_per_ms)
    end

    private

    # Server and generator are children that have ended by then, so their CPU time is known.
    def watched
      disturbance, (observation, turns_per_ms) = PumaTuner::Calibrate::Disturbance.during { Speed.during { yield } }
      Recording.new(observation:, foreign_cpu_ratio: disturbance.foreign_ratio || 0.0, turns_per_ms:, fastest: @fastest)
    end

    def observation(subject, recorded_at)
      given = {command: @servers.command(subject), traffic: traffic(subject.workload, recorded_at.topology), boot_limit_s: Session::BOOT_LIMIT_S}
      times = Times.of(@form, subject.workload)
      seconds = {warmup_s: times.warmup_s, duration_s: times.record_s_of(subject.workload)}
      return with_companions(recorded_at.topology, seconds, **given) if recorded_at.companions
      PumaTuner::Measure::LoadedWindow.new(topology: recorded_at.topology, **given, **(self.class.companions? ? {times: window_times(seconds)} : seconds)).call
    end

    def with_companions(today, seconds, **given)
      plan = PumaTuner::Measure::Recordings::Plan.new(today:, settings: nil, workers: Grid::WORKERS, times: window_times(seconds), limit_s: nil, **given)
      PumaTuner::Measure::Recordings.new(plan).call
    end

    # The warm-up is as long as that of the cells, so it is not waited for much longer.
    WARMUP_LIMIT_FACTOR = 2
    private_constant :WARMUP_LIMIT_FACTOR

    def window_times(seconds) = PumaTuner::Measure::LoadedWindow::Times.new(**seconds, warmup_limit_s: WARMUP_LIMIT_FACTOR * seconds.fetch(:warmup_s))

    def traffic(workload, topology)
      PumaTuner::Load::Traffic.new(mix: workload.mix, generator: PumaTuner::Load::Native.new,
        connections_count: Grid.recorded_connections_count(workload, topology), seed: 7)
    end
  end
end
