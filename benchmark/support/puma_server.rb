# frozen_string_literal: true

require "rbconfig"
require_relative "verdict"

module Bench
  # One Puma on a rackup file, as a child of ours. All variants start alike: Host::ServerProcess would load a part of our
  # library into each.
  class PumaServer
    BOOT_LIMIT_S = 30
    # Whatever would give Puma other settings than ours.
    FOREIGN = %w[WEB_CONCURRENCY PUMA_WORKERS PUMA_MIN_THREADS PUMA_MAX_THREADS RAILS_MIN_THREADS RAILS_MAX_THREADS MIN_THREADS
      MAX_THREADS PORT RUBYLIB PUMA_TUNER_TOPOLOGY PUMA_TUNER_BIND PUMA_TUNER_MEASURE PUMA_TUNER_DIRECTORY].freeze

    # Why there is no server, in one line.
    class Failed < StandardError; end

    # Runs the block with a server that serves, and kills it whatever happens.
    # @yieldparam server [PumaServer]
    # @raise [Failed]
    def self.run(...)
      server = new(...)
      server.start
      yield server
    ensure
      server&.kill
    end

    # @param rackup [String]
    # @param environment [Hash]
    # @param folder [String] to stand in, without any configuration for Puma; temporary files go there, too
    def initialize(rackup:, environment:, folder:)
      @rackup = rackup
      foreign = FOREIGN.to_h { |name| [name, nil] }
      @environment = {**foreign, "RACK_ENV" => "production", "TMPDIR" => folder, **environment}
      @folder = folder
      @log = File.join(folder, "log")
    end

    def start
      @child = PumaTuner::Host::Child.new(@environment, RbConfig.ruby, "-S", "puma", "-w", "0", "-t", "5:5", "-b", "tcp://127.0.0.1:0",
        @rackup, chdir: @folder, in: File::NULL, out: @log, err: @log)
      @child.start
      deadline_s = PumaTuner::Clock.now_s + BOOT_LIMIT_S
      until (@port = said[%r{Listening on http://127\.0\.0\.1:(\d+)}, 1])
        raise Failed, "did not start: #{last_words}" unless @child.alive?
        raise Failed, "did not start within #{BOOT_LIMIT_S} s" if PumaTuner::Clock.now_s > deadline_s
        sleep 0.02
      end
    end

    # @return [String]
    def url = "http://127.0.0.1:#{@port}"

    # @return [Integer] of the whole process so far. Linux numbers the CPU clocks of other processes in this way.
    def cpu_ns = Process.clock_gettime((~@child.pid << 3) | 2, :nanosecond)

    # @return [String, nil] how it ended, if it did
    def end_of_it = ("ended: #{last_words}" unless @child.alive?)

    # Nothing that a tool would write at a proper end is wanted.
    def kill = @child&.stop

    private

    def said = File.read(@log)

    def last_words = Failure.of_child(said, @child.wait).reason
  end
end
