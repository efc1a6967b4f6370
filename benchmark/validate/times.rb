# frozen_string_literal: true

module Validation
  # How long everything takes; seconds.
  #
  # load_s: of one repeat; starts_count: servers that a cell is measured on, one after the other; repeats_count: on each of them
  # probe_s: of the load with the probe; record_s: of a recording; boot_s: until a server is there, about
  Times = Data.define(:warmup_s, :load_s, :starts_count, :repeats_count, :probe_s, :record_s, :boot_s) do
    def initialize(starts_count: 1, boot_s: 1.8, **fields) = super

    # @param form [Symbol] of Grid::FORMS
    # @param workload [Workload]
    def self.of(form, workload)
      of_form = Validation::TIMES.fetch(form)
      of_form.fetch(workload.name) { of_form.fetch(workload.real? ? "real" : "made") }
    end

    # A repeat of fewer requests than this is made longer, up to so many times: the few that are under way at its ends weigh
    # too much in it.
    const_set(:LEAST_REQUESTS_COUNT, 150)
    const_set(:LONGEST_FACTOR, 3)

    # A recording needs this many, whatever they take.
    const_set(:LEAST_RECORDED_COUNT, 60)

    # For companions, so many are recorded in all.
    const_set(:SETTINGS_COUNT, 4)

    # Starting the generator once: a look at the clock, rounded up.
    const_set(:START_S, 0.3)

    # @param throughput_per_s [Numeric, nil] expected
    def load_s_at(throughput_per_s)
      wanted_s = throughput_per_s ? self.class::LEAST_REQUESTS_COUNT / throughput_per_s : load_s
      wanted_s.clamp(load_s, load_s * self.class::LONGEST_FACTOR).round(1)
    end

    # @param workload [Workload]
    def record_s_of(workload) = [record_s, (self.class::LEAST_RECORDED_COUNT * workload.nominal_ms / 1_000.0).round(1)].max

    # @param workload [Workload]
    # @param cells [Array<Cell>] on one server
    # @return [Float] about
    def session_s(workload, cells)
      load = load_s_at([1_000.0 / workload.nominal_ms, 1].max)
      boot_s + warmup_s + self.class::START_S + cells.size * repeats_count * (load + self.class::START_S) + cells.count(&:probed?) * (probe_s + self.class::START_S)
    end

    # @param workload [Workload]
    # @param recorded_at [RecordedAt]
    # @return [Float] about
    def recording_s(workload, recorded_at)
      (boot_s + warmup_s + record_s_of(workload) + 2 * self.class::START_S) * (recorded_at.companions ? self.class::SETTINGS_COUNT : 1)
    end
  end

  # Until YJIT has compiled most of a Rails application and its heap is steady it takes 12 s at least. A heap that is lucky in one start makes
  # the same settings a fifth faster than in the next, so the long form starts each server twice and more.
  TIMES = {
    quick: {"made" => Times.new(warmup_s: 1.0, load_s: 2.5, repeats_count: 2, probe_s: 1.5, record_s: 7.0)},
    medium: {"made" => Times.new(warmup_s: 1.0, load_s: 1.5, repeats_count: 2, probe_s: 1.0, record_s: 5.0, boot_s: 1.2),
             "real" => Times.new(warmup_s: 12.0, load_s: 2.0, repeats_count: 3, probe_s: 1.5, record_s: 8.0, boot_s: 2.5),
             "rails8" => Times.new(warmup_s: 12.0, load_s: 2.5, starts_count: 2, repeats_count: 2, probe_s: 1.5, record_s: 8.0, boot_s: 2.5)},
    full: {"made" => Times.new(warmup_s: 3.0, load_s: 6.0, repeats_count: 3, probe_s: 3.0, record_s: 12.0),
           "real" => Times.new(warmup_s: 20.0, load_s: 8.0, starts_count: 3, repeats_count: 2, probe_s: 4.0, record_s: 15.0, boot_s: 4.0)}
  }.freeze
end
