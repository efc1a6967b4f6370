# frozen_string_literal: true

require_relative "fixture"

class MythBustersAgainTest < TunerTest
  Again = PumaTuner::Labs::MythBusters::Again
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

  test "gives up on what is void three times in a row" do
    assert_raises(PumaTuner::InvalidMeasurement) { run_of_failures(3) }
  end
end
