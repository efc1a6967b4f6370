# frozen_string_literal: true

require "etc"
require "rbconfig"

module Accuracy
  # Processes that compute, one for each core. They end when their standard input does, so none outlives this process.
  class Burners
    PROGRAM = "Thread.new { $stdin.read; exit! }; loop {}"
    # Until they are up and the scheduler has placed them.
    SETTLE_S = 1

    # Runs the block beside them.
    def self.run(&)
      burners = new
      burners.start
      yield
    ensure
      burners&.stop
    end

    def start
      input, @lifeline = IO.pipe
      @pids = Array.new(Etc.nprocessors) do
        Process.spawn({"RUBYOPT" => nil}, RbConfig.ruby, "--disable-gems", "-e", PROGRAM, in: input, out: File::NULL)
      end
      input.close
      sleep SETTLE_S
    end

    def stop
      @lifeline&.close
      @pids&.each do |pid|
        Process.kill(:KILL, pid)
        Process.wait(pid)
      rescue Errno::ESRCH, Errno::ECHILD
        # It ended by itself meanwhile.
      end
    end
  end
end
