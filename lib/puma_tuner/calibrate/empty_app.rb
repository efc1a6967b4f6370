# frozen_string_literal: true

require "socket"

module PumaTuner
  module Calibrate
    # Puma with an app that does nothing: one process, five threads, as a server under test is started, with the gems
    # that this program runs with.
    class EmptyApp
      # Puma 6 leaves a pool thread with its connection for 0.2 s after a response, before the reactor gets it; so short
      # a load would hardly see the reactor.
      RACKUP = <<~RUBY
        never_park = lambda do
          next unless Puma::Const.const_defined?(:FAST_TRACK_KA_TIMEOUT)
          Puma::Const.send(:remove_const, :FAST_TRACK_KA_TIMEOUT)
          Puma::Const.const_set(:FAST_TRACK_KA_TIMEOUT, 0)
        end
        run(lambda do |env|
          never_park.call if env["PATH_INFO"] == "/never_park"
          [200, {"content-type" => "text/plain"}, [""]]
        end)
      RUBY

      TOPOLOGY = Topology.new(workers_count: 1, threads_count: 5)
      WARMUP_S = 0.5

      # @return [Integer] of the process
      attr_reader :pid

      # @param version [String, nil] of the Puma that this program can start
      # @raise [UsageError] when there is none, as where only the app's bundle has it
      def self.ensure_puma(version)
        return if version
        raise UsageError, "a machine is calibrated with an idle Puma, and there is no gem puma where " \
          "puma_tuner runs: `gem install puma`, or run `bundle exec puma_tuner` with puma_tuner in the app's Gemfile"
      end

      # @yieldparam command [Host::Command] that would serve it
      # @raise [UsageError] when there is no Puma
      def self.command
        ensure_puma(Lookup.own_puma_version)
        Host::ScratchFolder.open do |folder|
          rackup = File.join(folder, "config.ru")
          File.write(rackup, RACKUP)
          command = Host::Command.with_our_gems(rackup)
          # The other work of a development server is of no interest.
          yield command.with(words: [*command.words, "-e", "production"])
        end
      end

      # @yieldparam app [EmptyApp] as it is served; gone afterwards
      def self.serve
        command { |command| Host::ServerProcess.run(command, topology: TOPOLOGY) { |server| yield new(server) } }
      end

      # @param connections_count [Integer]
      # @param arrivals [Load::Arrivals]
      def self.traffic(connections_count, arrivals)
        Load::Traffic.new(mix: Load::Mix.of_paths(["/"]), generator: Load::Native.new, connections_count:, seed: 1,
          arrivals:).ensure_generator
      end

      def initialize(server)
        @server = server
        @pid = server.announcement["pid"]
      end

      # @return [Hash{String => Object}] Probe::ServerFacts' fields
      def facts = @server.announcement["server"]

      # @return [Load::Outcome]
      # @raise [InvalidMeasurement]
      def load(connections_count, arrivals, duration_s)
        self.class.traffic(connections_count, arrivals).send_to(@server.url, duration_s:).ensure_expected_responses
      end

      # Makes each connection go back to the reactor after a response from now on, whatever the Puma.
      def never_park
        socket = connect
        ask(socket, "/never_park")
      ensure
        socket&.close
      end

      # @return [TCPSocket]
      def connect = TCPSocket.new("127.0.0.1", port)

      # Waits for the response.
      def ask(socket, path = "/")
        socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
        socket.readpartial(4_096)
      end

      # It warms up, so that what is counted is neither loading nor a first time.
      def warm_up(duration_s = WARMUP_S) = load(2, Load::Arrivals.closed, duration_s)

      private

      def port = @server.announcement["ports"].first
    end
  end
end
