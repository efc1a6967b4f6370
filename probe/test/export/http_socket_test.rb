# frozen_string_literal: true

require "test_helper"
require "socket"

class ExportHttpSocketTest < TunerTest
  HttpSocket = PumaTuner::Export::HttpSocket

  BYTES = ("x" * 10_000_000).freeze

  # @param pieces_count [Integer] in which the other end reads all
  # @param pause_s [Numeric] before each
  # @return [Array(Boolean, Integer, nil)] whether all was taken, and how many bytes were read then
  def write_to(pieces_count, pause_s, limit_s:)
    ours, theirs = UNIXSocket.pair
    reader = Thread.new { Array.new(pieces_count) { sleep(pause_s) && theirs.read(BYTES.bytesize / pieces_count).to_s.bytesize }.sum }
    taken = HttpSocket.write(ours, BYTES, limit_s)
    ours.close
    [taken, (reader.value if taken)]
  ensure
    reader&.kill&.join
    [ours, theirs].each(&:close)
  end

  test "a reader that takes longer than the limit, and goes on reading, gets all" do
    assert_equal [true, BYTES.bytesize], write_to(10, 0.15, limit_s: 1)
  end

  test "a reader that takes nothing for as long as the limit is dropped" do
    taken, = write_to(1, 1, limit_s: 0.2)
    refute taken
  end

  test "a reader that reads a little again and again keeps nobody waiting without bound" do
    taken, = write_to(50, 0.1, limit_s: 0.15)
    refute taken
  end
end
