# frozen_string_literal: true

require "test_helper"
require "support/sanitizer"

# All extensions under what sees faults of memory and races, in short. In full: rake sanitize.
class MemoryTest < TunerTest
  kind :integration
  time_limit 300

  PROBE, TERMINAL = Sanitizer::EXERCISES

  def assert_clean(found) = assert(found.empty?, found)

  test "Valgrind finds no wrong access to memory in the probe" do
    skip "valgrind is not installed; bin/setup --test installs it" unless system("valgrind --version", out: File::NULL, err: File::NULL)
    assert_clean Sanitizer.valgrind(PROBE)
  end

  {"the probe" => PROBE, "generator and simulator" => TERMINAL}.each do |whose, script|
    test "AddressSanitizer finds no wrong access to memory in #{whose}, and nothing that C leaves undefined" do
      assert_clean Sanitizer::ADDRESS.exercise(script)
    end

    test "ThreadSanitizer finds no race between threads in #{whose}" do
      assert_clean Sanitizer::THREAD.exercise(script)
    end
  end
end
