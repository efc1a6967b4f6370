# frozen_string_literal: true

require "net/http"
require "tmpdir"

# A Rack app in a folder of its own, served by a real Puma as a user would start it.
class ServedApp
  PROJECT = File.expand_path("../..", __dir__)

  # Ruby's own folder first: a bundle is made for one Ruby.
  BASE_ENVIRONMENT = {
    "PATH" => "#{RbConfig::CONFIG["bindir"]}:#{ENV["PATH"]}",
    "BUNDLE_PATH" => ENV["BUNDLE_PATH"], "BUNDLE_APP_CONFIG" => ENV["BUNDLE_APP_CONFIG"], "BUNDLE_SILENCE_ROOT_WARNING" => "1",
    "RUBYOPT" => nil, "RUBYLIB" => nil, "RACK_ENV" => "production"
  }.freeze

  WORKING_APP = <<~RUBY
    run lambda { |env|
      case env["PATH_INFO"]
      when "/work" then 20_000.times { |i| i.to_s } && sleep(0.005)
      when "/sleep" then sleep(0.01)
      when "/fail" then next [500, {"content-type" => "text/plain"}, ["no"]]
      end
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  # The Pumas that the probe must understand: name to Gemfile.
  PUMAS = Dir["#{PROJECT}/gemfiles/puma_*.gemfile"].sort.to_h { |path| [File.basename(path, ".gemfile"), path] }.freeze

  RAILS = "#{PROJECT}/gemfiles/rails_8_1.gemfile"

  # For a server to stop in, once it was told to. With Ruby 3.4 a Puma often hangs as it stops or restarts, without the probe as well as with it: see
  # Probe::Puma::Stopping, which servers have that the command starts.
  STOP_LIMIT_S = 8

  # The same for one that is started here: a line of puma.rb, after the one that loads the probe.
  STOPPING = "PumaTuner::Probe::Puma.stop_without_hanging\n"

  attr_reader :folder

  def self.open(...)
    app = new(...)
    yield app
  ensure
    app&.close
  end

  # @param rackup [String] the config.ru
  # @param puma_rb [String, nil] the config/puma.rb
  def initialize(rackup: WORKING_APP, puma_rb: nil)
    @folder = Dir.mktmpdir("puma_tuner-test")
    File.write(File.join(@folder, "config.ru"), rackup)
    return unless puma_rb
    Dir.mkdir(File.join(@folder, "config"))
    File.write(File.join(@folder, "config/puma.rb"), puma_rb)
  end

  # @return [String, nil] where its processes' ledgers are; nil before they are there
  def ledgers_folder
    processes, ledgers = PumaTuner::Probe::Processes, PumaTuner::Probe::Ledgers
    Dir["#{ledgers::IN_MEMORY}/puma_tuner-#{Process.euid}/#{processes.identity(master_pid)}"].first
  end

  # @return [Hash] for a process that shall see the app's gems, and not ours
  def environment(gemfile: PUMAS.fetch("puma_8_0"))
    Bundler.unbundled_env.merge(BASE_ENVIRONMENT.merge("BUNDLE_GEMFILE" => gemfile)).compact
  end

  # Starts Puma and waits until it listens, and all workers have booted that `-w` asks for.
  # @param options [Array<String>] for puma
  # @param before [Array<String>] words of a command that starts it
  # @return [Integer] the port
  def start(*options, gemfile: PUMAS.fetch("puma_8_0"), extra: {}, before: [])
    @output = IO.popen([environment(gemfile:).merge("RUBYLIB" => PumaTuner::Probe::LIBRARY_FOLDER, **extra), *before, "bundle", "exec", "puma",
      "-b", "tcp://127.0.0.1:0", *options], chdir: @folder, err: %i[child out], unsetenv_others: true, pgroup: true)
    @master_pid = nil
    @lines = Queue.new
    @all = []
    @reader = Thread.new do
      @output.each_line { |line| @lines << line.chomp.tap { |text| @all << text } }
    ensure
      @lines.close # who waits for a line of a server that has ended waits no longer
    end
    port = wait_for_line(/Listening on http:\/\/127\.0\.0\.1:(\d+)/)[1].to_i
    options[options.index("-w") + 1].to_i.times { wait_for_line(/Worker \d+ .*booted/) } if options.include?("-w")
    port
  end

  # It stays the same through a restart, and to find it takes a look at all threads of all processes.
  #
  # @return [Integer] of Puma itself, below the command that started it
  def master_pid
    processes = PumaTuner::Probe::Processes
    @master_pid ||= processes.tree_of(@output.pid).find { |pid| processes.command_line(pid).start_with?("puma ") }
  end

  # @return [Array<Integer>] of the workers below it
  def worker_pids
    PumaTuner::Probe::Processes.children_of(master_pid).select { |pid| PumaTuner::Probe::Processes.command_line(pid).start_with?("puma: cluster worker") }
  end

  # @return [MatchData]
  def wait_for_line(pattern, limit_s: 60)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + limit_s
    while (left = deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)) > 0
      line = @lines.pop(timeout: left)
      return $~ if line&.match(pattern)
      break if line.nil?
    end
    raise "no line like #{pattern.inspect} within #{limit_s} s, or before its end; there were:\n#{@all.join("\n")}"
  end

  # @return [Array<String>] all that it has printed so far
  def printed = @all.dup

  # Stops the server as a user would, and returns all it printed.
  # @return [Array<String>]
  def stop(limit_s: STOP_LIMIT_S)
    return @all unless @output
    Process.kill(:TERM, @output.pid)
    Process.kill(:KILL, -@output.pid) unless @reader.join(limit_s)
    @reader.join
    @output.close
    @output = nil
    @all
  end

  # Ends it at once: nobody sees how it stops then, and where that hangs it would take all of its time.
  def close
    stop(limit_s: 0)
  ensure
    FileUtils.remove_entry(@folder)
  end

  # For tests with a collector: the client has its response before the server has recorded it.
  module Observing
    # @param requests_count [Integer] to wait for
    # @return [PumaTuner::Probe::Observation] of that many at least
    def observation_of(requests_count, collector)
      wait_until("the record of #{requests_count} requests") do
        observation = collector.end_window
        observation if observation.requests_count >= requests_count
      rescue PumaTuner::InvalidMeasurement
        raise if requests_count.zero?
      end
    end
  end

  # Sends requests from several clients at once, each over one connection.
  def self.request(port, path, clients: 6, each: 15)
    Array.new(clients) {
      Thread.new { Net::HTTP.start("127.0.0.1", port) { |http| Array.new(each) { http.get(path).code.to_i } } }
    }.flat_map(&:value)
  end
end
