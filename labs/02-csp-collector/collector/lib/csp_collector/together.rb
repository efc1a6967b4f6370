# frozen_string_literal: true

require "fileutils"
require "net/http"
require "optparse"
require "rbconfig"
require "socket"

module CspCollector
  # The whole application: the collector writes a file, the aggregator follows it into a database, and the page shows that.
  # Three processes, which end with this one however it ends.
  class Together
    FOLDER = File.expand_path("../..", __dir__)
    BOOT_LIMIT_S = 30
    STOP_LIMIT_S = 30

    USAGE = <<~TEXT
      labs/02-csp-collector/collector/run [OPTION …]

        Collects reports of policy violations, counts them and shows them, until Ctrl-C. All on this machine (127.0.0.1).

    TEXT

    # @param words [Array<String>] of the command line
    def self.main(words)
      new(words).call
    rescue UsageError => error
      warn "run: #{error.message}"
      exit 2
    end

    def initialize(words)
      @settings = {port: 9292, report_port: 9293, data: "csp_reports", threads: 3, window: "hour", keep_days: 90}
      rest = parser.parse(words)
      raise UsageError, "there is no argument, only options; see --help" if rest.any?
      raise UsageError, "--port and --report-port must differ" if @settings[:port] == @settings[:report_port] && @settings[:port] != 0
      @pids = {}
    rescue OptionParser::ParseError => error
      raise UsageError, "#{error.message}; see --help"
    end

    # @return [void]
    def call
      make_folder
      @settings[:port], @settings[:report_port] = free_ports
      @stop = Thread::Queue.new
      %w[INT TERM].each { |signal| trap(signal) { @stop << signal } }
      start
      greet
      ended = watch
      raise UsageError, "#{ended} has ended by itself; see #{@settings[:data]}/#{ended.split.last}.log" if ended
    ensure
      stop
    end

    private

    def parser
      OptionParser.new do |parser|
        parser.banner = USAGE
        parser.on("--port PORT", Integer, "for browsers' reports (9292; 0: any free one)") { |value| @settings[:port] = within(0..65_535, value, "--port") }
        parser.on("--report-port PORT", Integer, "for the page (9293; 0: any free one)") { |value| @settings[:report_port] = within(0..65_535, value, "--report-port") }
        parser.on("--data FOLDER", "where reports.jsonl and the database are kept (csp_reports)") { |value| @settings[:data] = value }
        parser.on("--threads COUNT", Integer, "of the collector's Puma (3)") { |value| @settings[:threads] = within(1..64, value, "--threads") }
        parser.on("--window WINDOW", Store::WINDOWS_S.keys, "to count by: minute, hour or day (hour)") { |value| @settings[:window] = value }
        parser.on("--keep DAYS", Integer, "of counts (90); reports.jsonl is never shortened") { |value| @settings[:keep_days] = within(1..100_000, value, "--keep") }
        parser.on("-h", "--help", "show this") do
          puts parser
          exit
        end
      end
    end

    def within(range, value, name) = range.cover?(value) ? value : raise(UsageError, "#{name} #{value}: give a number from #{range.min} to #{range.max}")

    def make_folder
      FileUtils.mkdir_p(@settings[:data], mode: 0o700)
      @lines = File.join(@settings[:data], "reports.jsonl")
      File.open(@lines, "a", 0o600, &:close)
      @database = File.join(@settings[:data], "reports.sqlite3")
    rescue SystemCallError => error
      raise UsageError, "--data #{@settings[:data]}: #{error.message}"
    end

    # Asked beforehand, as a message of Puma's would not tell which option to use.
    def free_ports
      names = {port: "--port", report_port: "--report-port"}
      servers = names.map do |setting, name|
        TCPServer.new("127.0.0.1", @settings[setting])
      rescue SystemCallError => error
        raise UsageError, "#{name} #{@settings[setting]}: #{error.message}; name another port"
      end
      servers.map { |server| server.addr[1].tap { server.close } }
    end

    def start
      # Children hold the pipe's reading end as their standard input, and end when nobody can write to it any more.
      watched, @kept = IO.pipe
      puma = [RbConfig.ruby, "-S", "bundle", "exec", "puma", "-C"]
      spawn("the collector", [*puma, file("puma.rb"), "-b", "tcp://127.0.0.1:#{@settings[:port]}", file("config.ru")], watched, out: [@lines, "a"])
      spawn("the aggregator", [RbConfig.ruby, file("bin/csp_aggregate"), "--follow", "--window", @settings[:window], "--keep", @settings[:keep_days].to_s,
        "--database", @database, @lines], watched)
      spawn("the page", [*puma, file("puma.rb"), "-b", "tcp://127.0.0.1:#{@settings[:report_port]}", file("report.ru")], watched)
      watched.close
      await_boot
    end

    # In process groups of their own: the terminal sends Ctrl-C to a whole group, and these have to end in order.
    def spawn(name, command, watched, out: File::NULL)
      environment = {"CSP_COLLECTOR_STAY" => "stdin", "CSP_COLLECTOR_USER_AGENT" => "1", "CSP_COLLECTOR_DATABASE" => @database,
                     "CSP_COLLECTOR_THREADS" => @settings[:threads].to_s}
      @pids[name] = Process.spawn(environment, *command, in: watched, out:, err: [File.join(@settings[:data], "#{name.split.last}.log"), "a", 0o600], pgroup: true)
    end

    def file(name) = File.join(FOLDER, name)

    def await_boot
      deadline_s = now_s + BOOT_LIMIT_S
      {"the collector" => [@settings[:port], "/health"], "the page" => [@settings[:report_port], "/"]}.each do |name, (port, path)|
        until answers?(port, path)
          break if @stop.size.positive?
          raise UsageError, "#{(ended = gone) || name} did not start; see #{@settings[:data]}/#{(ended || name).split.last}.log" if gone || now_s > deadline_s
          sleep 0.05
        end
      end
    end

    def answers?(port, path)
      Net::HTTP.start("127.0.0.1", port, open_timeout: 1, read_timeout: 5) { |http| http.get(path).code == "200" }
    rescue SystemCallError, IOError, Timeout::Error
      false
    end

    def greet
      puts <<~TEXT
        collecting at  http://127.0.0.1:#{@settings[:port]}/reports
        the page is    http://127.0.0.1:#{@settings[:report_port]}/
        kept in        #{File.expand_path(@settings[:data])} (reports.jsonl, reports.sqlite3, and a log of each process)
        Ctrl-C stops it.
      TEXT
      $stdout.flush
    end

    # @return [String, nil] who has ended, or nil when it is to be stopped
    def watch
      loop do
        return if @stop.pop(timeout: 0.2)
        return gone if gone
      end
    end

    def gone = @gone ||= @pids.find { |_, pid| Process.waitpid(pid, Process::WNOHANG) }&.first

    # The collector first, which answers what it has begun; then the aggregator counts what was written; then the page.
    def stop
      return unless @pids&.any?
      @pids.each { |name, pid| (name == @gone) || end_process(name, pid) }
      @kept&.close
      puts "stopped; every report that was answered with 201 is in #{@lines}"
    end

    def end_process(name, pid)
      Process.kill(:TERM, pid)
      deadline_s = now_s + STOP_LIMIT_S
      until Process.waitpid(pid, Process::WNOHANG)
        next sleep(0.02) if now_s < deadline_s
        warn "run: #{name} did not end within #{STOP_LIMIT_S} s, so it is killed"
        Process.kill(:KILL, pid)
        Process.waitpid(pid)
        break
      end
    rescue Errno::ESRCH, Errno::ECHILD
      nil # it has ended
    end

    def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
