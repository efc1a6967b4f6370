# frozen_string_literal: true

# What a request of the validation's app does, step by step: "c2 i5 c0.5 g3" computes for 2 ms, waits for 5 ms, computes for
# half a millisecond, and makes 3,000 hashes of garbage.
#
# Computing is a fixed number of turns of a loop, never "until the clock says so": under contention it must stay as much work
# as it was. It is Ruby with a check for interrupts in each turn, so that time slices end where they would in an app.
# Waiting is for a pipe that nobody writes to. To Ruby and to the probe that is a socket's wait (`wait_readable`, one poll
# without the GVL), it ends at a known time, and no second process takes part of the cores for it.
# "l8" sleeps for 8 ms where only a few of all workers' requests can at a time, as with a database that has so few connections.
module ValidationSteps
  # Objects that stay: a collector has something to mark. Some of the garbage is kept for a while, so that it grows old.
  LIVE_COUNT = 300_000
  KEPT_COUNT = 2_000

  module_function

  # @param turns_count [Integer]
  def burn(turns_count)
    turn = value = 0
    while turn < turns_count
      value = (value * 31 + turn) & 0xffff
      turn += 1
    end
    value
  end

  # @param seconds [Float]
  def wait(seconds)
    pipe = Thread.current[:validation_pipe] ||= IO.pipe
    pipe.first.wait_readable(seconds)
  end

  # Each request that is inside holds a token, a byte of a named pipe: the kernel wakes one reader for each, in their order.
  # @param seconds [Float]
  def wait_limited(seconds)
    @tokens.sysread(1)
    begin
      sleep(seconds)
    ensure
      @tokens.syswrite("t")
    end
  end

  # The first process to come makes the pipe, and puts the tokens in.
  # @param path [String] of the pipe, the same for all workers of a server
  # @param count [Integer] of tokens
  def share_tokens(path, count)
    first = begin
      File.mkfifo(path, 0o600).zero?
    rescue Errno::EEXIST
      false
    end
    @tokens = File.open(path, "r+")
    @tokens.sync = true
    @tokens.syswrite("t" * count) if first
  end

  # @param count [Integer] of hashes
  def litter(count)
    kept = Thread.current[:validation_kept] ||= []
    turn = 0
    while turn < count
      kept[turn % KEPT_COUNT] = {name: "item #{turn}", list: [turn, turn.to_s]}
      turn += 1
    end
  end

  # @param text [String] the steps
  # @return [Array<Array>] method and argument
  def parse(text, turns_per_ms:)
    text.split.map do |step|
      number = Float(step[1..])
      case step[0]
      when "c" then [:burn, (number * turns_per_ms).round]
      when "i" then [:wait, number / 1_000]
      when "l" then [:wait_limited, number / 1_000]
      when "g" then [:litter, (number * 1_000).round]
      else raise ArgumentError, "no step is called #{step}"
      end
    end
  end

  # @param text [String] "/path=steps;/other=steps"
  # @return [#call] a Rack app
  def app(text, turns_per_ms:)
    steps = text.split(";").to_h { |part| part.split("=", 2) }.transform_values { |words| parse(words, turns_per_ms:) }
    @live = Array.new(LIVE_COUNT) { |index| "row #{index}" } if steps.values.flatten(1).any? { |name, _| name == :litter }
    lambda do |env|
      steps.fetch(env["PATH_INFO"]).each { |name, argument| public_send(name, argument) }
      [200, {"content-type" => "text/plain"}, ["done"]]
    end
  end
end
