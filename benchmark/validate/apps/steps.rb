# frozen_string_literal: true

require "monitor"
require "socket"

# What a request of the validation's app does, step by step: "c2 i5 c0.5 g3" computes for 2 ms, waits for 5 ms, computes for
# half a millisecond, and makes 3,000 hashes of garbage.
#
# Computing is a fixed number of turns of a loop, never "until the clock says so": under contention it must stay as much work
# as it was. It is Ruby with a check for interrupts in each turn, so that time slices end where they would in an app.
# Waiting is for a pipe that nobody writes to. To Ruby and to the probe that is a socket's wait (`wait_readable`, one poll
# without the GVL), it ends at a known time, and no second process takes part of the cores for it.
# "l8" has a service outside of the app (../places.rb, at the port that VALIDATION_SERVICE names) serve it for 8 ms. That serves only
# a few of all workers' requests at a time, as a database does that has so few connections.
#
# Of each process, and shared by its threads:
# "m1( c3 )" computes with mutex 1, "p3( i4 )" waits with one of 3 connections of a pool (gem connection_pool);
# "w200" writes 200 bytes into a log, with a monitor around it, as Logger does;
# "h10" looks into a cache, with a mutex around it; of 20 looks one finds nothing there, and waits 10 ms to fill it, mutex in hand;
# "f5" reads 5 small files, one after the other, each with a little work: open, read and close let go of the GVL.
# Files lie in the folder that VALIDATION_FOLDER names.
module ValidationSteps
  # Objects that stay: a collector has something to mark. Some of the garbage is kept for a while, so that it grows old.
  LIVE_COUNT = 300_000
  KEPT_COUNT = 2_000

  # Where the log begins anew, so that it does not fill the disk.
  LOG_BYTES_MAX = 16 << 20

  CACHE_MISS_EVERY = 20

  FILES_COUNT = 64
  FILE_BYTES = 600
  FILE_WORK_MS = 0.03

  @monitor = Monitor.new
  @mutexes = Hash.new { |mutexes, number| mutexes[number] = Mutex.new }
  @cache_lock = Mutex.new
  @looks_count = 0

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

  # Each thread has a connection. The answer is waited for in a blocking read. The request is written without letting go of the GVL,
  # as Puma writes its responses: so the read is the only wait of its kind, and a simulation (`--station io=N`) has nothing else queue
  # for a place.
  # @param seconds [Float] that the service is to take, once there is a place
  def ask_service(seconds)
    connection = Thread.current[:validation_service] ||= connect_to_service
    connection.write_nonblock([(seconds * 1_000_000).round].pack("N"))
    connection.readpartial(1)
  end

  def connect_to_service = TCPSocket.new("127.0.0.1", Integer(ENV.fetch("VALIDATION_SERVICE")))

  # @param count [Integer] of hashes
  def litter(count)
    kept = Thread.current[:validation_kept] ||= []
    turn = 0
    while turn < count
      kept[turn % KEPT_COUNT] = {name: "item #{turn}", list: [turn, turn.to_s]}
      turn += 1
    end
  end

  # @param mutex [Mutex]
  # @param steps [Array<Array>]
  def with_mutex(mutex, steps) = mutex.synchronize { follow(steps) }

  # @param pool [ConnectionPool]
  # @param steps [Array<Array>]
  def with_connection(pool, steps) = pool.with { follow(steps) }

  # @param line [String]
  def log(line)
    @monitor.synchronize do
      @log.rewind if @log.pos > LOG_BYTES_MAX
      @log.write(line)
    end
  end

  # @param seconds [Float] that filling takes
  def look_up(seconds)
    @cache_lock.synchronize { wait(seconds) if ((@looks_count += 1) % CACHE_MISS_EVERY).zero? }
  end

  # @param count [Integer]
  # @param turns_count [Integer] of work after each
  def read_files(count, turns_count)
    count.times do |number|
      File.binread(@files.fetch(number % FILES_COUNT))
      burn(turns_count)
    end
  end

  # @param steps [Array<Array>]
  def follow(steps) = steps.each { |name, *arguments| public_send(name, *arguments) }

  # @param text [String] the steps
  # @return [Array<Array>] method and arguments
  def parse(text, turns_per_ms:) = parse_words(text.split, turns_per_ms)

  # @param words [Array<String>] those that are left; up to the one that closes the steps, or the last
  def parse_words(words, turns_per_ms)
    steps = []
    while (word = words.shift) && word != ")"
      steps << (word.end_with?("(") ? enclosing(word, parse_words(words, turns_per_ms)) : step(word, turns_per_ms))
    end
    steps
  end

  def enclosing(word, steps)
    number = Integer(word[1..-2])
    case word[0]
    when "m" then [:with_mutex, @mutexes[number], steps]
    when "p" then [:with_connection, pool(number), steps]
    else raise ArgumentError, "no step is called #{word}"
    end
  end

  def step(word, turns_per_ms)
    number = Float(word[1..])
    case word[0]
    when "c" then [:burn, (number * turns_per_ms).round]
    when "i" then [:wait, number / 1_000]
    when "l" then [:ask_service, number / 1_000]
    when "g" then [:litter, (number * 1_000).round]
    when "w" then [:log, "#{"x" * (number.to_i - 1)}\n"]
    when "h" then [:look_up, number / 1_000]
    when "f" then [:read_files, number.to_i, (FILE_WORK_MS * turns_per_ms).round]
    else raise ArgumentError, "no step is called #{word}"
    end
  end

  def pool(size)
    require "connection_pool"
    ConnectionPool.new(size:, timeout: 60) { Object.new }
  end

  # @param text [String] steps for a thread that does nothing else
  # @return [Thread]
  def work_in_background(text, turns_per_ms:)
    steps = parse(text, turns_per_ms:)
    Thread.new { loop { follow(steps) } }
  end

  # @param text [String] "/path=steps;/other=steps"
  # @return [#call] a Rack app
  def app(text, turns_per_ms:)
    steps = text.split(";").to_h { |part| part.split("=", 2) }.transform_values { |words| parse(words, turns_per_ms:) }
    provide_for(steps.values.flatten)
    lambda do |env|
      follow(steps.fetch(env["PATH_INFO"]))
      [200, {"content-type" => "text/plain"}, ["done"]]
    end
  end

  # What the steps need is there before the first request.
  # @param names [Array] of steps, among other things
  def provide_for(names)
    @live = Array.new(LIVE_COUNT) { |index| "row #{index}" } if names.include?(:litter)
    @log = log_file if names.include?(:log)
    @files = small_files if names.include?(:read_files)
  end

  def folder = ENV.fetch("VALIDATION_FOLDER")

  # Each line is written at once, as Logger does it.
  def log_file = File.open(File.join(folder, "log-#{Process.pid}"), "w").tap { |file| file.sync = true }

  # The same for all processes, as they hold nothing that differs.
  def small_files
    Array.new(FILES_COUNT) do |number|
      File.join(folder, "file-#{number}").tap { |path| File.binwrite(path, "x" * FILE_BYTES) unless File.size?(path) == FILE_BYTES }
    end
  end
end
