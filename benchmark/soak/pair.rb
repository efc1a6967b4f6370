# frozen_string_literal: true

require "net/http"
require "socket"
require "tmpdir"

module Soak
  # What came of it.
  #
  # events: how often each thing happened; growth: of the workers in the quiet half, a Growth; counts: {:probe, :none => Counts};
  #   quiet_counts: {:probe, :none => what clients had answered in the quiet half}; recorded_count: by the probe; killed_count: workers with
  #   it that were killed, each with up to THREADS requests under way
  Result = Data.define(:minutes, :seed, :events, :growth, :counts, :quiet_counts, :recorded_count, :killed_count, :ledger_bytes, :lines) do
    # How many connections a fault breaks is chance, in each server by itself: hence half as many again. A request whose
    # connection broke may have been counted by the app, and one that was answered has been.
    #
    # @return [Array<String>] promises that were broken, and what shows nothing
    def broken
      slack = killed_count * Pair::THREADS
      broken_most = 1.5 * counts[:none].broken + 2 * Pair::CLIENTS
      wrong_most = 2 * counts[:none].wrong + Pair::CLIENTS
      unanswered_count = counts[:probe].app - counts[:probe].answered
      [
        *without_a_soak,
        ("#{counts[:probe].broken} connections broke with the probe, #{counts[:none].broken} without" if counts[:probe].broken > broken_most),
        (if counts[:probe].wrong > wrong_most
           "#{counts[:probe].wrong} responses were not the app's with the probe, #{counts[:none].wrong} without"
         end),
        too_grown,
        ("#{recorded_count} requests were recorded, the app counted #{counts[:probe].app} (#{slack} may differ, as workers were killed)" if (recorded_count - counts[:probe].app).abs > slack),
        (unless unanswered_count.between?(0, counts[:probe].broken)
           "the app counted #{counts[:probe].app} requests, clients #{counts[:probe].answered}"
         end),
        *lines.map { |line| "a server said: #{line}" }
      ].compact
    end

    private

    def too_grown
      own_bytes, most_bytes = growth.own_bytes.round(2), growth.most_bytes.round(2)
      if own_bytes > most_bytes
        "a worker grew by #{own_bytes} bytes more at each request with the probe, at most #{most_bytes} are promised"
      end
    end

    # An hour has to exclude a loss of the least that can be allocated.
    def blurred? = minutes >= MINUTES && growth.lost_most_bytes > Pair::ALLOCATION_BYTES

    # @return [Array<String, nil>] what did not happen, so that nothing is shown of it
    def without_a_soak
      least_count = (minutes / 6).floor # ten in an hour
      served = growth.samples.to_h { |name, _| [name, growth.rises(name, :requests_count).count(&:positive?)] }
      few_workers = served.select { |_, count| count < Pair::WORKERS }
      few_requests = counts.select { |_, one| one.answered < ANSWERED_LEAST_PER_MINUTE * minutes }
      few_events = Pair::EVENTS.select { |event| events.fetch(event, 0) < least_count }
      few_workers.map { |name, count|
        "#{count} workers of the server #{NAMES[name]} lived through the quiet phase and served, of #{Pair::WORKERS}: that shows nothing"
      } + few_requests.map { |name, one|
        "#{one.answered} requests had their response from the server #{NAMES[name]}, which is no soak"
      } + few_events.map { |event|
        "#{event} happened #{events.fetch(event, 0)} times, which shows nothing of it"
      } + [
        ("memory grew too irregularly: the probe may have lost up to #{growth.lost_most_bytes} bytes at each request" if blurred?)
      ]
    end
  end

  # What a worker has done until an instant, and what it takes.
  #
  # rss_bytes: without its ledger; cpu_ns: without that of processes that it forked
  Sample = Data.define(:requests_count, :rss_bytes, :cpu_ns)

  # How workers grew in the second half of the quiet phase, when their warm-up was over.
  #
  # samples: {:probe, :none => of each worker that lived through it, Pair::STEPS_COUNT + 1 of them}
  Growth = Data.define(:samples) do
    # @param name [Symbol] :probe or :none
    # @param member [Symbol] of a sample
    # @return [Array<Integer>] by how much it rose, of each worker
    def rises(name, member) = samples[name].map { |one| one.last.public_send(member) - one.first.public_send(member) }

    # Heaps grow in steps. So a worker's slope is the median of those between any two of its samples (Theil and Sen): that of a steady loss
    # is the loss, and a single step hardly moves it.
    #
    # @param name [Symbol] :probe or :none
    # @return [Array<Float>] bytes of RSS at a request, of each worker
    def slopes(name) = samples[name].map { |one| Bench.median(one.combination(2).filter_map { |pair| slope(*pair) }).to_f }

    # @return [Float] bytes that a worker with the probe grew by at a request more than one without
    def own_bytes = Bench.median(slopes(:probe)).to_f - Bench.median(slopes(:none)).to_f

    # @return [Numeric] what is promised of own_bytes
    def most_bytes = [Pair::LOSS_BYTES_MAX, Pair::GROWTH_BYTES_MAX.fdiv([*rises(:probe, :requests_count), 1].max)].max

    # The standard error, by how the growth in quarters of the time differs: a step counts in full here, and so does what is left of a
    # warm-up. How far two servers are apart for other reasons is not in that. But the probe makes no worker grow less, so where those with
    # it did, the servers were that far apart by chance.
    #
    # @return [Float] of own_bytes
    def error_bytes = [Math.sqrt(samples.keys.sum { |name| squared_error(name) }), -own_bytes].max

    # By the difference, or by all that workers with the probe grew by, whichever is less, as a heap that serves hardly
    # shrinks. Each with 95% certainty, by Student's t, with the fewest degrees of freedom that Welch's test may have.
    #
    # @return [Integer] bytes at each request, more than which the probe did not lose
    def lost_most_bytes
      factor = PumaTuner::Stats::StudentT.quantile(0.95, 4 * Pair::WORKERS - 1)
      by_difference = [own_bytes, 0].max + factor * error_bytes
      in_all = slopes(:probe).max.to_f + factor * Math.sqrt(squared_error(:probe))
      [by_difference, in_all].min.ceil
    end

    private

    # @return [Float, nil] bytes at a request; nil: there was none between
    def slope(before, after)
      requests_count = after.requests_count - before.requests_count
      (after.rss_bytes - before.rss_bytes).fdiv(requests_count) if requests_count.positive?
    end

    def quarters(samples) = samples.each_slice(Pair::STEPS_COUNT / 4).map(&:first).each_cons(2).filter_map { |pair| slope(*pair) }

    # @return [Float] that of the mean of the workers' quarters
    def squared_error(name)
      numbers = samples[name].flat_map { |one| quarters(one) }
      return 0.0 if numbers.size < 2
      mean = numbers.sum / numbers.size
      numbers.sum { |number| (number - mean)**2 } / (numbers.size - 1) / numbers.size
    end
  end

  # app: by a byte that it appends to a file for each request; answered, broken: by the clients; wrong: of those that were
  #   answered, with another status or text than the app gives
  Counts = Struct.new(:app, :answered, :broken, :wrong) do
    def initialize(app, answered, broken, wrong = 0) = super
  end

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

    # In one part of the time nothing happens to the workers, and their memory is compared in its second half, when they are warm; in the
    # rest they are killed, restarted and flooded.
    QUIET_RATIO = 0.5

    # In a short soak, too, each kind of request has come many times before a worker's memory is compared.
    WARM_UP_MIN_S = 30

    # Between the samples of a worker's memory.
    STEPS_COUNT = 40

    # The least that malloc gives; an object of Ruby takes 40.
    ALLOCATION_BYTES = 32

    # At a request, more than a worker without the probe: half way between no loss and that of one allocation, so that noise is as far from
    # hiding the one as from feigning the other.
    LOSS_BYTES_MAX = ALLOCATION_BYTES / 2

    # However few requests there were: by less than this, a heap grows by chance.
    GROWTH_BYTES_MAX = 1 << 20

    # With Ruby 3.4 a fork sometimes hangs, without the probe, too: in `after_fork_ruby`, at a lock that another thread had. Its worker would end half a minute late.
    PUMA_OPTIONS = {"worker_shutdown_timeout" => "5"}.freeze

    PATHS = %w[/ /mutex /timeout /thread /raise /fiber /fork /stream /many].freeze

    RACKUP = <<~'RUBY'
      require "timeout"
      counted = File.open("served-#{Process.pid}", File::WRONLY | File::APPEND | File::CREAT)
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
      @killed_count = 0
    end

    # @return [Result]
    def run
      Dir.mktmpdir("soak") do |folder|
        serve(folder, measure: true) do |probe|
          serve(folder, measure: false) do |none|
            @servers = {probe:, none:}
            quiet(@minutes * 60 * QUIET_RATIO)
            rough(@minutes * 60 * (1 - QUIET_RATIO))
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

    def quiet(seconds)
      @say.call("a quiet phase of #{seconds.round} s")
      half_s = seconds / 2.0
      sleep([half_s, WARM_UP_MIN_S].max)
      samples = @servers.transform_values { |server| server.server.serving_pids.to_h { |pid| [pid, []] } }
      (STEPS_COUNT + 1).times do |number|
        sleep(half_s / STEPS_COUNT) if number.positive?
        samples.each { |name, workers| workers.each { |pid, all| all << @servers[name].sample(pid) } }
      end
      @growth = Growth.new(samples: samples.transform_values { |workers| workers.values.select(&:all?) })
      @quiet_counts = @servers.transform_values { |server| server.counts.answered }
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

    # Where a server has no worker at the moment, none is killed.
    def kill_worker
      killed = @servers.transform_values { |server| server.signal_worker(:KILL) }
      @killed_count += 1 if killed[:probe]
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
      counts, recorded_count = @servers.transform_values(&:counts), @servers[:probe].recorded_count
      Result.new(minutes: @minutes, seed: @seed, events: @events, growth: @growth, counts:, quiet_counts: @quiet_counts, recorded_count:,
        killed_count: @killed_count, ledger_bytes: @servers[:probe].ledger_bytes, lines: @servers[:probe].complaints)
    end
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
    # @param pid [Integer] of a worker
    # @return [Sample, nil] nil: it has ended, or has no app yet
    def sample(pid)
      rss_bytes, cpu_ns = resident(pid, own: true), PumaTuner::Probe::Processes.cpu_ns(pid)
      Sample.new(requests_count: File.size(File.join(@folder, "served-#{pid}")), rss_bytes:, cpu_ns:) if rss_bytes && cpu_ns
    rescue Errno::ENOENT # another one has ended, and this one boots
      nil
    end

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

    # @return [Integer, nil] nil: there was none
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
          told = socket.read
          told.start_with?("HTTP/1.1 200") ? answered(right: told.end_with?("\r\n\r\nfine")) : broken
        end
      rescue SystemCallError, IOError
        broken
      end
    end

    def counts = @counts.dup.tap { |counts| counts.app = Dir[File.join(@folder, "served-*")].sum { |path| File.size(path) } }

    def recorded_count
      PumaTuner::Probe::Ledger.sum(PumaTuner::Probe::Ledgers.of_run(server.directory).read.values).values.select { |entry| entry.kind == :request }.sum { |entry| entry.counts.first }
    end

    # @return [Array<String>] what the probe said, and crashes
    def complaints = @complaints.lines

    private

    # @return [Integer, nil] bytes; nil: it has ended, whether Puma has seen that or not
    def resident(pid, own:)
      mappings = File.read("/proc/#{pid}/smaps").split(/^(?=\h+-\h+ )/)
      return if mappings.empty?
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
        told = http.get(path)
        answered(right: right?(path, told.code, told.body))
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

    # What the app gives, see Pair::RACKUP; Puma tells of what it raises in words of its own.
    def right?(path, status, text)
      return status == "500" if path == "/raise"
      status == "200" && text == ((path == "/stream") ? STREAMED : "fine")
    end

    STREAMED = Array.new(3) { |number| "data: #{number}\n\n" }.join.freeze
    private_constant :STREAMED

    def answered(right: true)
      @lock.synchronize do
        @counts.answered += 1
        @counts.wrong += 1 unless right
      end
    end

    def broken = @lock.synchronize { @counts.broken += 1 }
  end
end
