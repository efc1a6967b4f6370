# frozen_string_literal: true

require "rbconfig"

module Demo
  # A process that belongs to the server and ends with it, however the server ends.
  #
  # It watches two things. Who its parent is: that changes when the server has gone, by SIGKILL too, although workers may
  # live on. And a pipe that the server never writes to: its end shows a restart, in which the server keeps its process and
  # becomes another program. Neither would do alone, as forked workers hold the pipe open. A farewell from the server, in
  # at_exit, was rejected: a killed server sends none.
  module Companion
    class Failed < StandardError; end

    WATCH_INTERVAL_S = 0.1

    # For the server.
    # @param name [String] of the program beside this file
    # @param limit_s [Numeric] for coming up
    # @return [String] the address it gave
    def self.start(name, limit_s:)
      reader, writer = IO.pipe
      pid = spawn_program(File.join(__dir__, "#{name}.rb"), writer)
      writer.close
      word, rest = (reader.gets if reader.wait_readable(limit_s))&.chomp&.split(" ", 2)
      return rest if word == "ready"
      raise Failed, "the demo's #{name} did not start: #{rest || "no word from it within #{limit_s} s"}"
    ensure
      Process.kill(:TERM, pid) if pid && word != "ready"
      reader.close
    end

    # For who started one and goes on without it; it ends within WATCH_INTERVAL_S.
    def self.stop = @kept&.close

    # For the program: gives the address, and holds nothing of the server's open any more.
    # @param address [String]
    def self.ready(address) = tell("ready #{address}")

    # @param reason [String]
    def self.failed(reason) = tell("failed #{reason.tr("\n", " ")}")

    # For the program: returns when the server has gone, or this process is to end.
    # @param server_pid [Integer]
    def self.stay_with(server_pid)
      ended = false
      Signal.trap(:TERM) { ended = true }
      until ended || Process.ppid != server_pid
        break if $stdin.wait_readable(WATCH_INTERVAL_S)
      end
    end

    class << self
      private

      # In a process group of its own: whoever kills the server's group would leave no time to clear up. Without the
      # server's RUBYOPT: what measures the server has no business here.
      def spawn_program(path, writer)
        watched, @kept = IO.pipe
        Process.spawn({"RUBYOPT" => nil, "RUBYLIB" => nil}, RbConfig.ruby, "--disable-gems", path, Process.pid.to_s,
          in: watched, out: writer, pgroup: true, close_others: true)
      ensure
        watched.close
      end

      def tell(line)
        $stdout.puts(line)
        $stdout.flush
        [$stdout, $stderr].each { |stream| stream.reopen(File::NULL, "w") }
      end
    end
  end
end
