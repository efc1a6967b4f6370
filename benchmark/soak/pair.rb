# frozen_string_literal: true

require "net/http"
require "socket"
require "tmpdir"

module Soak
  # What came of it.
  #
  # phases: how often each thing happened; growth_bytes: {:probe, :none => of each worker that lived through a quiet phase, [RSS without its
  #   ledger at its beginning, at its end]}; counts: {:probe, :none => Counts}; recorded_count: by the probe; killed_count: workers that were
  #   killed, each with up to THREADS requests under way
  # quiet_requests_count: that a worker with the probe served while its memory was compared, on average
  Result = Data.define(:minutes, :seed, :events, :growth_bytes, :counts, :recorded_count, :killed_count, :own_growth_bytes,
    :ledger_bytes, :lines, :quiet_requests_count) do
    # @return [Array<String>] promises that were broken, and what shows nothing
    def broken
      slack = killed_count * Pair::THREADS
      broken_most = 2 * counts[:none].broken + slack + 2 * Pair::CLIENTS
      [
        *without_a_soak,
        ("#{counts[:probe].broken} connections broke with the probe, #{counts[:none].broken} without" if counts[:probe].broken > broken_most),
        ("a worker grew by #{(own_growth_bytes / 1024.0).round} KiB more with the probe, at most 1024 are promised" if own_growth_bytes > Pair::GROWTH_BYTES_MAX),
        ("#{recorded_count} requests were recorded, the app counted #{counts[:probe].app} (#{slack} may differ, as workers were killed)" if (recorded_count - counts[:probe].app).abs > slack),
        ("the app counted #{counts[:probe].app} requests, clients #{counts[:probe].answered}" if (counts[:probe].app - counts[:probe].answered).abs > slack + counts[:probe].broken),
        *lines.map { |line| "a server said: #{line}" }
      ].compact
    end

    # @return [Integer, nil] bytes that a worker has to lose at each request for its memory to grow by more than is promised; nil where it
    #   served none
    def seen_bytes_least = (Pair::GROWTH_BYTES_MAX.ceildiv(quiet_requests_count) if quiet_requests_count.positive?)

    private

    # One worker in ten minutes, as each round has a quiet phase.
    #
    # @return [Array<String>] what did not happen, so that nothing is shown of it
    def without_a_soak
      least_count = [(minutes / 10).floor, 1].max
      few_workers = growth_bytes.select { |_, pairs| pairs.size < least_count }
      few_requests = counts.select { |_, one| one.answered < ANSWERED_LEAST_PER_MINUTE * minutes }
      few_workers.map { |name, pairs|
        "#{pairs.size} workers of the server #{NAMES[name]} lived through a quiet phase, which shows nothing of their memory"
      } + few_requests.map { |name, one|
        "#{one.answered} requests had their response from the server #{NAMES[name]}, which is no soak"
      }
    end
  end

  # app: by a byte that it appends to a file for each request; answered, broken: by the clients
  Counts = Struct.new(:app, :answered, :broken)

  NAMES = {probe: "with the probe", none: "without it"}.freeze

  # By far fewer than a slow machine serves.
  ANSWERED_LEAST_PER_MINUTE = 100

  # What the probe says in a server's output, and crashes: the log itself keeps its newest part only.
  class Complaints
    WORDS = /puma_tuner:|\[BUG\]|Segmentation/
    MOST_COUNT = 5

    # @return [Array<String>] the first ones, each once
    attr_reader :lines

    def initialize = @lines = []

    # @param line [String]
    def write(line)
      text = line.scrub.chomp
      @lines << text if text.match?(WORDS) && @lines.size < MOST_COUNT && !@lines.include?(text)
    end

    alias_method :puts, :write
  end

  # A server with the probe and one without, under the same load, and what happens to both at the same time.
  class Pair
    THREADS = 3
    WORKERS = 2
    CLIENTS = 6

    # Quiet phases, in which workers live and their memory is compared, and rough ones, in turn. Of a quiet phase, the first part is a warm-up.
    QUIET_RATIO = 0.55
    WARM_UP_RATIO = 0.4

    # In a short soak, too, each kind of request has come many times before a worker's memory is compared.
    WARM_UP_MIN_S = 30
    ROUND_S = 600

    # More than a worker without the probe, in a quiet phase.
    GROWTH_BYTES_MAX = 1 << 20

    # With Ruby 3.4 a fork sometimes hangs, without the probe, too: in `after_fork_ruby`, at a lock that another thread had. Its worker would end half a minute late.
    PUMA_OPTIONS = {"worker_shutdown_timeout" => "5"}.freeze

    PATHS = %w[/ /mutex /timeout /thread /raise /fiber /fork /stream /many].freeze

    RACKUP = <<~'RUBY'
      require "timeout"
      counted = File.open("served", File::WRONLY | File::APPEND | File::CREAT)
      app = lambda { |env|
        case env["PATH_INFO"]
        when "/fork" then Process.wait(fork { exit!(0) })
        when "/timeout" then (Timeout.timeout(0.002) { sleep 0.01 } rescue nil)
        when "/thread" then Thread.new { sleep }.tap { |thread| sleep 0.001; thread.kill }.join
        when "/raise" then raise "the app's own"
        when "/fiber" then Fiber.new { sleep 0.001; Fiber.yield; 1 }.tap(&:resume).resume
        when "/mutex" then Mutex.new.synchronize { sleep 0.0005 }
        when "/stream" then next [200, {}, Enumerator.new { |lines| 3.times { |i| sleep 0.001; lines << "data: #{i}\n\n" } }]
        else 500.times { |i| i.to_s }; sleep 0.0005
        end
        [200, {"content-type" => "text/plain"}, ["fine"]]
      }
      run lambda { |env|
        begin
          app.call(env)
        ensure
          counted.syswrite("x")
        end
      }
    RUBY

    # @param rest_s [Numeric] what a client rests after each response; 0 saturates the servers
    def initialize(minutes:, seed:, say:, rest_s: 0)
      @minutes, @seed, @say, @rest_s = minutes, seed, say, rest_s
      @random = Random.new(seed)
      @events = Hash.new(0)
      @growth = {probe: [], none: []}
      @killed_count = 0
      @quiet_counts = []
    end

    # @return [Result]
    def run
      Dir.mktmpdir("soak") do |folder|
        serve(folder, measure: true) do |probe|
          serve(folder, measure: false) do |none|
            @servers = {probe:, none:}
            end_s = PumaTuner::Clock.now_s + @minutes * 60
            round while PumaTuner::Clock.now_s < end_s - 5
            @servers.each_value(&:stop_load)
            return result
          end
        end
      end
    end

    private

    def serve(folder, measure:)
      place = File.join(folder, measure ? "probe" : "none")
      Dir.mkdir(place)
      File.write(File.join(place, "config.ru"), RACKUP)
      Dir.mkdir(File.join(place, "config"))
      # Else Puma restarts in place when it is told to restart in phases, and a signal that comes meanwhile ends it.
      File.write(File.join(place, "config/puma.rb"), "preload_app! false\n")
      command = PumaTuner::Host::Command.of_rackup(File.join(place, "config.ru"))
      # When it restarts, Puma takes the environment that Bundler was given, which by these is that of a process above us: nothing of ours would be in it.
      command = command.with(environment: command.environment.reject { |name, _| name.start_with?("BUNDLER_ORIG_") })
      topology = PumaTuner::Topology.new(workers_count: WORKERS, threads_count: THREADS)
      complaints = Complaints.new
      options = {topology:, measure:, locks: measure, puma_options: PUMA_OPTIONS, echo: complaints}
      PumaTuner::Host::ServerProcess.run(command, **options) do |server|
        yield Loaded.new(server, place, complaints, rest_s: @rest_s).tap(&:begin_load)
      end
    end

    def round
      seconds = [@minutes * 60, ROUND_S].min
      quiet(seconds * QUIET_RATIO)
      rough(seconds * (1 - QUIET_RATIO))
    end

    def quiet(seconds)
      @say.call("a quiet phase of #{seconds.round} s")
      sleep([seconds * WARM_UP_RATIO, WARM_UP_MIN_S].max)
      before = @servers.transform_values(&:memory)
      answered_count = @servers[:probe].counts.answered
      sleep(seconds * (1 - WARM_UP_RATIO))
      @quiet_counts << (@servers[:probe].counts.answered - answered_count) / WORKERS
      @servers.each do |name, server|
        after = server.memory
        before[name].each { |pid, bytes| @growth[name] << [bytes, after[pid]] if after[pid] }
      end
    end

    EVENTS = %i[kill_worker end_worker phased_restart restart_in_place burst slow_client reader_killed].freeze

    def rough(seconds)
      @say.call("a rough phase of #{seconds.round} s")
      end_s = PumaTuner::Clock.now_s + seconds - 8
      while PumaTuner::Clock.now_s < end_s
        event = EVENTS.sample(random: @random)
        @events[event] += 1
        begin
          send(event)
        rescue RuntimeError
          @say.call("this went wrong at #{event}, the events so far: #{@events}")
          raise
        end
        sleep(@random.rand(2.0..5.0))
      end
      sleep 8 # until all workers are there again
    end

    def kill_worker
      @killed_count += 1
      @servers.each_value { |server| server.signal_worker(:KILL) }
    end

    def end_worker = @servers.each_value { |server| server.signal_worker(:TERM) }

    def phased_restart = @servers.each_value { |server| server.signal(:USR1) }

    def restart_in_place = @servers.values.map(&:restart).each(&:join)

    def burst = @servers.each_value { |server| server.burst(40) }

    def slow_client = @servers.each_value(&:slow_client)

    def reader_killed
      script = "ledgers = PumaTuner::Probe::Ledgers.of_run(#{@servers[:probe].server.directory.inspect}); loop { ledgers.read; ledgers.fold_ended; $stdout.syswrite(1) }"
      IO.popen([RbConfig.ruby, "-I", PumaTuner::Probe::LIBRARY_FOLDER, "-rpuma_tuner/probe", "-e", script, {err: File::NULL}]) do |reader|
        reader.readpartial(1)
        sleep(@random.rand(0.0..0.05))
        Process.kill(:KILL, reader.pid)
      end
    end

    def result
      sleep 1 # the client has its response before the server has recorded it
      growth = @growth.transform_values { |pairs| pairs.map { |before, after| after - before } }
      Result.new(minutes: @minutes, seed: @seed, events: @events, growth_bytes: @growth, counts: @servers.transform_values(&:counts), recorded_count: @servers[:probe].recorded_count,
        killed_count: @killed_count, own_growth_bytes: middle(growth[:probe]) - middle(growth[:none]),
        ledger_bytes: @servers[:probe].ledger_bytes, lines: @servers[:probe].complaints,
        quiet_requests_count: @quiet_counts.sum / [@quiet_counts.size, 1].max)
    end

    def middle(numbers) = numbers.empty? ? 0 : numbers.sort[numbers.size / 2]
  end

  # One of the two, with its clients.
  class Loaded
    LIMIT_S = 30

    # A restart in place waits for its workers, of which some may hang (PUMA_OPTIONS), and boots others.
    RESTART_LIMIT_S = 120

    attr_reader :server

    # @param server [PumaTuner::Host::ServerProcess]
    # @param folder [String] of the app
    # @param complaints [Complaints] what it says meanwhile
    # @param rest_s [Numeric] what a client rests after each response
    def initialize(server, folder, complaints, rest_s:)
      @server, @folder, @complaints, @rest_s = server, folder, complaints, rest_s
      @counts = Counts.new(0, 0, 0)
      @lock = Mutex.new
      @extra = []
    end

    def begin_load
      @threads = Array.new(Pair::CLIENTS) { |i| Thread.new { ask(Pair::PATHS.rotate(i)) } }
    end

    # Clients end by themselves: each waits LIMIT_S for a response, and no longer.
    def stop_load
      @stopped = true
      waiting = (@threads + @extra).reject { |thread| thread.join(2 * LIMIT_S) }
      raise "#{waiting.size} clients of the server in #{@folder} have not ended: #{waiting.first.backtrace.first(3).join(", ")}" if waiting.any?
    end

    # By RSS: while a fork of a request lives, half of a worker's PSS is the child's. Without the ledger: it has its size from the beginning,
    # and its pages come to a worker's RSS as requests fill it for the first time (8.6 MiB in 20 s here), later the fewer there are.
    #
    # @return [Hash{Integer => Integer}] each worker's bytes
    def memory = server.serving_pids.to_h { |pid| [pid, resident(pid, own: true)] }.compact

    # @return [Integer] bytes of the largest ledger that a worker has in its RSS
    def ledger_bytes = server.serving_pids.filter_map { |pid| resident(pid, own: false) }.max.to_i

    # @raise [RuntimeError] when the server has ended, with the last that it said
    def signal(name)
      Process.kill(name, server.announcement["pid"])
    rescue Errno::ESRCH
      raise "the server in #{@folder} has ended by itself; its last lines:\n#{last_lines}"
    end

    # Until it has said anew that it serves: a signal that comes before would end it, as there is no handler yet.
    #
    # @return [Thread] that waits for it
    def restart
      announcement = File.join(server.directory, PumaTuner::Probe::Launch::ANNOUNCEMENT)
      before = File.stat(announcement).ino
      signal(:USR2)
      deadline_s = PumaTuner::Clock.now_s + RESTART_LIMIT_S
      Thread.new do
        Thread.current.report_on_exception = false
        until File.stat(announcement).ino != before
          raise "the server in #{@folder} has not restarted within #{RESTART_LIMIT_S} s; its last lines:\n#{last_lines}" if PumaTuner::Clock.now_s > deadline_s
          sleep(0.1)
        end
      end
    end

    def signal_worker(name)
      pid = server.serving_pids.first or return
      Process.kill(name, pid)
    rescue Errno::ESRCH
      nil
    end

    def burst(count) = @extra << Thread.new { Array.new(count) { Thread.new { ask(["/"], once: true) } }.each(&:join) }

    def slow_client
      @extra << Thread.new do
        TCPSocket.open("127.0.0.1", port) do |socket|
          socket.timeout = LIMIT_S
          "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".each_char { |char| socket.write(char) && sleep(0.02) }
          socket.read.start_with?("HTTP/1.1 200") ? answered : broken
        end
      rescue SystemCallError, IOError
        broken
      end
    end

    def counts = @counts.dup.tap { |counts| counts.app = File.size(File.join(@folder, "served")) }

    def recorded_count
      PumaTuner::Probe::Ledger.sum(PumaTuner::Probe::Ledgers.of_run(server.directory).read.values).values.select { |entry| entry.kind == :request }.sum { |entry| entry.counts.first }
    end

    # @return [Array<String>] what the probe said, and crashes
    def complaints = @complaints.lines

    private

    # @return [Integer, nil] bytes; nil: it has ended
    def resident(pid, own:)
      mappings = File.read("/proc/#{pid}/smaps").split(/^(?=\h+-\h+ )/)
      ledgers, others = mappings.partition { |mapping| mapping.lines.first.match?(/\.ledger\b/) }
      (own ? others : ledgers).sum { |mapping| mapping[/^Rss: +(\d+)/, 1].to_i << 10 }
    rescue SystemCallError
      nil
    end

    def last_lines = File.readlines(File.join(server.directory, "server.log")).last(30).join

    def port = server.url[/\d+\z/].to_i

    def ask(paths, once: false)
      http = nil
      paths.cycle do |path|
        break if @stopped
        http ||= Net::HTTP.start("127.0.0.1", port, open_timeout: LIMIT_S, read_timeout: LIMIT_S)
        http.max_retries = 0
        http.get(path)
        answered
        break if once
        sleep(@rest_s) if @rest_s.positive?
      rescue SystemCallError, IOError, Net::HTTPBadResponse, Net::ReadTimeout, Net::OpenTimeout
        broken
        http = nil
        sleep 0.05
        break if once
      end
    ensure
      http&.finish if http&.started?
    end

    def answered = @lock.synchronize { @counts.answered += 1 }

    def broken = @lock.synchronize { @counts.broken += 1 }
  end
end
