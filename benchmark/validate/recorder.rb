# frozen_string_literal: true

require_relative "session"

module Validation
  # The one look at a subject that its predictions may use: a window of `puma_tuner measure`, with the probe.
  class Recorder
    # @param servers [Servers]
    # @param times [Times]
    # @param fastest [Float] speed of the machine that nobody disturbs, see Speed
    def initialize(servers:, times:, fastest:)
      @fastest = fastest
      @servers = servers
      @times = times
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

    # @param subject [Subject]
    # @param topology [PumaTuner::Topology]
    # @return [Recording] an undisturbed one, or the fastest
    def call(subject, topology)
      recordings = []
      ATTEMPTS_COUNT.times do
        recordings << watched { observation(subject, topology) }
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

    # With as many clients as threads, so that one thread means one request at a time.
    def observation(subject, topology)
      traffic = PumaTuner::Load::Traffic.new(mix: subject.workload.mix, generator: PumaTuner::Load::Native.new,
        connections_count: topology.slots_count, seed: 7)
      PumaTuner::Measure::LoadedWindow.new(command: @servers.command(subject), traffic:, topology:, warmup_s: @times.warmup_s,
        duration_s: @times.record_s_of(subject.workload), boot_limit_s: Session::BOOT_LIMIT_S).call
    end
  end
end
