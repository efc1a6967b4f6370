# frozen_string_literal: true

# One sample of who held the GVL: a Puma with the probe, clients in a process of their own, and an app that stamps its own
# waits and holds. Prints one line of JSON.
#
#   ruby blame_child.rb SCENARIO SECONDS

require "json"
require "puma"
require "puma/configuration"
require "puma/server"
require "puma_tuner"
require_relative "blame"

module Accuracy
  module Blame
    # Each path computes, sleeps or collects garbage. Nothing here asks the probe.
    class App
      MS = 1_000_000
      # So many that a request's way in and out, which no stamp of the app's covers, weighs little.
      SLEEPS_COUNT = 20
      OBJECTS_COUNT = 300_000

      # @return [Stamps]
      attr_reader :stamps

      def initialize
        @stamps = Stamps.new
        @kept = Array.new(OBJECTS_COUNT) { Object.new } # what a collection has to look at
      end

      def call(env)
        case env["PATH_INFO"]
        when WAITING then wait
        when "/compute" then hold("GET /compute", 40)
        when "/tail" then sleep(0.02) && hold("GET /tail", 40)
        when "/short" then hold("GET /short", 15)
        when "/collect" then hold("GET /collect", 20) && @stamps.hold("(gc)") { GC.start }
        end
        [200, {"content-length" => "2"}, ["ok"]]
      end

      # What is under way ends soon.
      def stop
        @stopped = true
      end

      # A thread that serves no requests.
      def import
        hold("importer", 30) && sleep(0.02) until @stopped
      end

      private

      # Lengths that fall into no rhythm with anybody's.
      def wait
        @stamps.waits_of_a_request do |waits|
          SLEEPS_COUNT.times { |turn| waits.sleep_ns(5 * MS + (turn * 0.618 % 1 * 10 * MS).round) unless @stopped }
        end
      end

      # In Ruby, until this thread has had so much CPU time: releases nothing.
      def hold(name, length_ms)
        @stamps.hold(name) do
          end_ns = cpu_now_ns + length_ms * MS
          number = 0
          500.times { number += 1 } while cpu_now_ns < end_ns
        end
      end

      def cpu_now_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
    end

    # A connection for each path, each asking again when it is answered. The process ends with the server.
    module Clients
      # @return [Array(Integer, IO)] its id, and where it wants the port
      def self.start(paths)
        reader, writer = IO.pipe
        pid = fork do
          writer.close
          [$stdout, $stderr].each { |stream| stream.reopen(File::NULL) }
          port = Integer(reader.gets)
          paths.map { |path| Thread.new { ask(TCPSocket.new("127.0.0.1", port), path) } }.each(&:join)
        ensure
          exit!(0)
        end
        reader.close
        [pid, writer]
      end

      def self.ask(socket, path)
        loop do
          socket.write("GET #{path} HTTP/1.1\r\nhost: localhost\r\n\r\n")
          answer = +""
          answer << socket.readpartial(1_000) until answer.end_with?("ok")
        end
      end
    end
  end
end

scenario = Accuracy::Blame::Scenarios.entry(ARGV[0])
client_pid, port_to = Accuracy::Blame::Clients.start(scenario.paths)
app = Accuracy::Blame::App.new
GC.start
GC.disable # but where it is asked for: a collection that nobody stamped would be missing from what is known
PumaTuner::Probe.start(way_in: "run")
# As Puma's launcher wraps an app; by this the probe knows that a request reached it.
wrapped = Puma::Configuration::ConfigMiddleware.new(Puma::Configuration.new, app)
server = Puma::Server.new(wrapped, nil, min_threads: 5, max_threads: 5, log_writer: Puma::LogWriter.null)
port = server.add_tcp_listener("127.0.0.1", 0).addr[1]
server.run
gate = Queue.new
Thread.new { gate.pop || app.import }.name = "importer" if scenario.background
sleep 0.1
PumaTuner::Probe::GvlClock.sweep # the threads' names
gate.close
port_to.puts(port)
sleep Float(ARGV[1])
Process.kill(:KILL, client_pid)
Process.wait(client_pid)
app.stop
server.stop(true) # when all requests have ended: for the app's stamps as for the probe
said = PumaTuner.snapshot.endpoints.find { |endpoint| endpoint.name == "GET #{Accuracy::Blame::WAITING}" }
line = {**app.stamps.to_h, gvl_wait_ns: said.budget.gvl_wait_ns, reported: said.blame.to_h { |blame| [blame.holder, blame.wait_ns] }}
$stdout.sync = true
puts "accuracy #{JSON.generate(line)}"
exit!(0)
