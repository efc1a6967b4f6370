# frozen_string_literal: true

require "test_helper"
require "stringio"

class AutoCommandTest < TunerTest
  include PumaTuner

  # Has come to five threads when something goes wrong.
  Ended = Data.define(:error) do
    def call(duration_s:) = raise(error)

    def threads_count = 5

    def configured = [1, 3]

    def given = PumaTuner::Trial::Automatic::Given.new(**PumaTuner::Trial::Automatic::Given.members.to_h { |name| [name, nil] })
  end

  test "what was found in hours is told whatever ends it" do
    [Interrupt.new, MeasurementFailed.new("it is gone"), UsageError.new("no permission")].each do |error|
      out = StringIO.new
      command = CLI::Commands::Auto.new(out:, err: StringIO.new)
      command.instance_variable_set(:@automatic, Ended.new(error:))
      assert_raises(error.class) { command.send(:watch, 60) }
      assert_includes out.string, "It ended with 5 threads. To keep them: threads"
    end
  end
end
