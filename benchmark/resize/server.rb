# frozen_string_literal: true

require "json"
require "net/http"
require "tmpdir"

module Resizing
  # A cluster whose pools may be resized, with its clients.
  class Server
    WORKERS = 2
    MOST = 8

    # As the kernel has its name.
    POOL_THREAD = /\Apuma .*\btp \d/

    RACKUP = <<~RUBY
      run lambda { |env|
        case env["PATH_INFO"]
        when "/io" then sleep 0.03
        when "/cpu" then 25_000.times { |i| i.to_s }
        when "/long" then sleep 1.5
        when "/reads" then 100.times { 400.times { |i| i.to_s }; File.read("config.ru") }
        else 200.times { |i| i.to_s }; sleep 0.002
        end
        [200, {"content-type" => "text/plain"}, ["fine"]]
      }
    RUBY

    # @param threads_count [Integer] that is configured
    # @yieldparam server [Server] that serves
    def self.run(threads_count)
      Dir.mktmpdir("resizing") do |folder|
        server = new(folder, threads_count)
        server.start
        yield server
      ensure
        server&.stop
      end
    end

    def initialize(folder, threads_count)
      @folder = folder
      File.write(File.join(folder, "config.ru"), RACKUP)
      Dir.mkdir(File.join(folder, "config"))
      File.write(File.join(folder, "config/puma.rb"), <<~RUBY)
        threads #{threads_count}, #{threads_count}
        workers #{WORKERS}
        bind "tcp://127.0.0.1:0"
        require "puma_tuner/probe"
        PumaTuner.run(interval_s: 100_000, tune: 1..#{MOST})
      RUBY
    end

    def start
      @log = File.join(@folder, "log")
      @child = PumaTuner::Host::Child.new({"RUBYLIB" => PumaTuner::Probe::LIBRARY_FOLDER, "PUMA_TUNER_FORECAST" => "off", "RUBYOPT" => nil, "PORT" => nil},
        RbConfig.ruby, "-S", "puma", chdir: @folder, in: File::NULL, out: @log, err: @log)
      @child.start
      deadline_s = PumaTuner::Clock.now_s + 30
      until said.scan(/Worker \d .*booted/).size == WORKERS
        raise PumaTuner::MeasurementFailed, "it did not start: #{said}" if PumaTuner::Clock.now_s > deadline_s || !@child.alive?
        sleep 0.05
      end
      @port = said[/Listening on http:\/\/127\.0\.0\.1:(\d+)/, 1].to_i
      sleep 1 # a worker says that it has booted before it records
      trial.ready_states
    end

    def stop = @child&.stop

    def said = File.read(@log)

    def url = "http://127.0.0.1:#{@port}"

    attr_reader :port

    # Threads of its pool as the kernel has them: what Puma counts is set right by the very look that tells it.
    #
    # @param pid [Integer] of a worker
    # @return [Integer]
    def threads_count(pid)
      Dir["/proc/#{pid}/task/*/comm"].count do |path|
        File.read(path).match?(POOL_THREAD)
      rescue Errno::ENOENT, Errno::ESRCH
        false # it has just ended
      end
    end

    # @return [PumaTuner::Trial::Server]
    def trial = @trial ||= PumaTuner::CLI::Commands::Trial.server(said[/Master PID: (\d+)/, 1])
  end
end
