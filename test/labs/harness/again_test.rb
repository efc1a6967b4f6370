# frozen_string_literal: true

require "test_helper"

class LabAgainTest < TunerTest
  Again = PumaTuner::Lab::Again
  Told = Data.define(:texts) do
    def note(text) = texts << text
  end

  def run_of_failures(count)
    attempts = 0
    told = Told.new([])
    value = Again.after_void(told) do
      attempts += 1
      raise PumaTuner::InvalidMeasurement, "a connection broke" if attempts <= count
      attempts
    end
    [value, told.texts.size]
  end

  test "measures again what was void, twice, and says so" do
    assert_equal [[1, 0], [3, 2]], [run_of_failures(0), run_of_failures(2)]
  end

  test "a server that does not start is tried again, too" do
    attempts = [PumaTuner::ServerFailed.new("no"), nil]
    Again.after_void(Told.new([])) { attempts.shift&.then { |error| raise error } }
    assert_empty attempts
  end

  test "gives up on what is void three times in a row" do
    assert_raises(PumaTuner::InvalidMeasurement) { run_of_failures(3) }
  end
end
