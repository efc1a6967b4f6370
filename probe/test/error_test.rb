# frozen_string_literal: true

require "test_helper"

class ErrorTest < TunerTest
  include PumaTuner

  def raised = [UsageError, MeasurementFailed, InvariantError]

  test "all that is raised on purpose has one base, and is one of three: asked wrongly, not measured, our bug" do
    raised.each { |kind| assert_operator kind, :<, Error }
    raised.permutation(2) { |one, other| refute_operator one, :<, other }
    [ServerFailed, LoadToolFailed, InvalidMeasurement].each { |kind| assert_operator kind, :<, MeasurementFailed }
    [InvalidDocument, InvalidRequestFile].each { |kind| assert_operator kind, :<, UsageError }
  end

  test "what the app has printed is in the message, and not in what documents keep" do
    error = ServerFailed.new("It fell", log_tail: %w[s3cret], advice: "Look at it.")
    assert_equal ["It fell. Look at it.\nIts last lines:\n  | s3cret", "It fell. Look at it.", %w[s3cret]], [error.message, error.kept, error.output]
    assert_equal %w[plain plain], UsageError.new("plain").then { |plain| [plain.message, plain.kept] }
  end
end
