# frozen_string_literal: true

require "test_helper"
require_relative "../../../benchmark/support/other_generators"

class WrkCorrectionTest < TunerTest
  WrkCorrection = OtherGenerators::WrkCorrection

  # The oracle: what wrk does, over every microsecond from twice the interval up, as it does it.
  def corrected(samples, interval_us)
    counts = Hash.new(0).merge(samples)
    (interval_us * 2..samples.keys.max).each do |us|
      count = counts[us]
      due_us = us - interval_us
      while count.positive? && due_us > interval_us
        counts[due_us] += count
        due_us -= interval_us
      end
    end
    counts.reject { |_, count| count.zero? }
  end

  def random_samples(random)
    largest_us = random.rand(2..3_000)
    Array.new(random.rand(1..200)) { (random.rand < 0.8) ? random.rand(1..50) : random.rand(1..largest_us) }.tally.sort.to_h
  end

  test "gives back the samples that wrk began with" do
    random = Random.new(6)
    400.times do
      samples = random_samples(random)
      interval_us = random.rand(1..300)
      assert_equal samples, WrkCorrection.undo(corrected(samples, interval_us), interval_us), "interval #{interval_us}"
    end
  end

  test "takes all inventions of one slow answer away" do
    made_up = corrected({1 => 10, 105 => 1}, 10)
    assert_equal [1, 15, 25, 35, 45, 55, 65, 75, 85, 95, 105], made_up.keys.sort
    assert_equal({1 => 10, 105 => 1}, WrkCorrection.undo(made_up, 10))
  end

  test "leaves alone what wrk has not corrected" do
    assert_equal({5 => 1, 900 => 2}, WrkCorrection.undo({900 => 2, 5 => 1}, nil))
  end

  test "knows a histogram that this correction cannot have made" do
    assert_nil WrkCorrection.undo({15 => 1, 25 => 2, 35 => 1}, 10)
  end

  test "computes the interval in whole steps, as wrk does" do
    # 1,009 responses on 10 connections are 100 rounds.
    assert_equal 20_009, WrkCorrection.interval_us(duration_us: 2_000_999, requests_count: 1_009, connections_count: 10)
    assert_nil WrkCorrection.interval_us(duration_us: 2_000_000, requests_count: 9, connections_count: 10)
  end
end
