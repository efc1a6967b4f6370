# frozen_string_literal: true

module Validation
  # How long everything takes; seconds.
  #
  # load_s: of one repeat; probe_s: of the load with the probe; record_s: of a recording
  Times = Data.define(:warmup_s, :load_s, :repeats_count, :probe_s, :record_s) do
    def self.quick = new(warmup_s: 1.0, load_s: 2.5, repeats_count: 2, probe_s: 1.5, record_s: 7.0)

    def self.full = new(warmup_s: 3.0, load_s: 6.0, repeats_count: 3, probe_s: 3.0, record_s: 12.0)

    # A repeat of fewer requests than this is made longer, up to so many times: the few that are under way at its ends weigh
    # too much in it.
    const_set(:LEAST_REQUESTS_COUNT, 150)
    const_set(:LONGEST_FACTOR, 3)

    # A recording needs this many, whatever they take.
    const_set(:LEAST_RECORDED_COUNT, 60)

    # Starting a server, and the generator once: a look at the clock, rounded up.
    const_set(:BOOT_S, 1.8)
    const_set(:START_S, 0.3)

    # @param throughput_per_s [Numeric, nil] expected
    def load_s_at(throughput_per_s)
      wanted_s = throughput_per_s ? self.class::LEAST_REQUESTS_COUNT / throughput_per_s : load_s
      wanted_s.clamp(load_s, load_s * self.class::LONGEST_FACTOR).round(1)
    end

    # @param workload [Workload]
    def record_s_of(workload) = [record_s, (self.class::LEAST_RECORDED_COUNT * workload.nominal_ms / 1_000.0).round(1)].max

    # @param workload [Workload]
    # @param levels [Array<Level>] of the cells on one server
    # @return [Float] about
    def session_s(workload, levels)
      load = load_s_at([1_000.0 / workload.nominal_ms, 1].max)
      probed_count = levels.count { |level| !level.for_picks? }
      self.class::BOOT_S + warmup_s + self.class::START_S + levels.size * repeats_count * (load + self.class::START_S) + probed_count * (probe_s + self.class::START_S)
    end

    # @return [Float] about
    def recording_s(workload) = self.class::BOOT_S + warmup_s + record_s_of(workload) + 2 * self.class::START_S
  end
end
