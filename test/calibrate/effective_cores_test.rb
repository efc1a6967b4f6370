# frozen_string_literal: true

require "test_helper"

class EffectiveCoresTest < TunerTest
  Calibrate = PumaTuner::Calibrate
  EffectiveCores = Calibrate::EffectiveCores

  # Spinners by arithmetic: four execution units, each shared by two cores that slow down to 60% of their pace together. And
  # somebody else has half of the time.
  class TwinCores
    UNITS_COUNT = 4
    PACE = 0.1 # steps per ns

    def work(size, window_s)
      on_cores = [size, 2 * UNITS_COUNT].min
      pace = PACE * ((on_cores > UNITS_COUNT) ? (2.0 * UNITS_COUNT - on_cores + (on_cores - UNITS_COUNT) * 1.2) / on_cores : 1)
      cpu_ns = (window_s * 1e9 / 2 * on_cores / size).round
      Array.new(size) { Calibrate::Spinners::Work.new(count: (cpu_ns * pace).round, cpu_ns:) }
    end
  end

  test "small machines are tried with every number, beyond their cores" do
    assert_equal [1, 2, 3], EffectiveCores.sizes(1)
    assert_equal [1, 2, 3, 4], EffectiveCores.sizes(2)
    assert_equal (1..8).to_a, EffectiveCores.sizes(6)
  end

  test "big machines with some, where something may change" do
    assert_equal [1, 2, 16, 32, 48, 64, 66], EffectiveCores.sizes(64)
    assert_equal [1, 2, 3, 5, 7, 9], EffectiveCores.sizes(7)
  end

  test "one process gets one core done, by definition, and nobody more than there are cores" do
    rounds = [{1 => 100.0, 2 => 210.0, 3 => 205.0}, {1 => 101.0, 2 => 190.0, 3 => 180.0}, {1 => 99.0, 2 => 204.0, 3 => 150.0}]
    assert_equal [1.0, 2.0, 1.938], EffectiveCores.of(rounds, 2)
    assert_equal [1.0, 1.0, 1.0], EffectiveCores.of(rounds, 1)
  end

  test "rounds in which a neighbour took work away count for nothing, and a single best one for little" do
    rounds = [{1 => 100.0, 2 => 196.0}, {1 => 100.0, 2 => 40.0}, {1 => 100.0, 2 => 197.0}]
    assert_equal [1.0, 1.966], EffectiveCores.of(rounds, 2)
    assert_equal [1.0, 1.98], EffectiveCores.of(Array.new(7) { |index| {1 => 100.0, 2 => [120.0, 122.0, 125.0, 130.0, 196.0, 198.0, 199.0][index]} }, 2).then { |one, two| [one, two.round(2)] }
  end

  test "between what was tried a straight line is drawn" do
    list = EffectiveCores.of([{1 => 10.0, 2 => 20.0, 6 => 52.0, 8 => 60.0}], 8)
    assert_equal [1.0, 2.0, 2.8, 3.6, 4.4, 5.2, 5.6, 6.0], list
  end

  test "cores in pairs that share an execution unit, with a neighbour who takes half of the time" do
    list = EffectiveCores.new(TwinCores.new, 8).call
    assert_equal 10, list.size
    assert_equal [1.0, 2.0], list.first(2)
    assert_in_delta 4.0, list[3], 0.001
    assert_in_delta 4.4, list[5], 0.001
    assert_in_delta 4.8, list[7], 0.001
    assert_in_delta 4.8, list[9], 0.001
  end

  test "a calibration without any work done is refused" do
    assert_raises(PumaTuner::InvalidMeasurement) { EffectiveCores.of([{1 => 0.0, 2 => 1.0}], 2) }
  end
end
