# frozen_string_literal: true

module PumaTuner
  module Measure
    # Answers the command from inside a serving process, over a socket in a folder of the command's. Between two questions
    # its thread is blocked and costs nothing. When the process ends, the last snapshot stays behind as a file.
    #
    # Questions are lines: "reset", "snapshot". Answers are one line of JSON.
    class Agent
      def initialize(directory:, snapshot:)
        @snapshot = snapshot
        @directory = directory
        @pid = Process.pid
      end

      def start
        require "json"
        require "socket"
        server = UNIXServer.new(File.join(@directory, "agent-#{@pid}.sock"))
        @thread = Thread.new { serve(server) }
        @thread.name = "puma_tuner agent"
        at_exit { leave_last_snapshot if Process.pid == @pid }
      end

      private

      def serve(server)
        loop do
          client = server.accept
          client.write(answer(client.gets.to_s.chomp), "\n")
        rescue SystemCallError, IOError
          next # whoever asked has gone
        ensure
          client&.close
        end
      end

      def answer(question)
        case question
        when "reset" then @snapshot.begin_window && "{}"
        when "snapshot" then JSON.generate(@snapshot.to_h)
        else JSON.generate(error: "unknown question")
        end
      end

      def leave_last_snapshot
        path = File.join(@directory, "last-#{@pid}.json")
        File.write("#{path}.partial", JSON.generate(@snapshot.to_h))
        File.rename("#{path}.partial", path)
        File.unlink(File.join(@directory, "agent-#{@pid}.sock"))
      rescue SystemCallError
        nil # the command has gone, and its folder with it
      end
    end
  end
end
