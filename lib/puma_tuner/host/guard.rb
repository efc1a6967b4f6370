# frozen_string_literal: true

module PumaTuner
  module Host
    # Stops a server that we can't stop ourselves, as this process was killed: by SIGKILL, or by the kernel where memory
    # is short. A shell waits for the end of a pipe that nobody but this process can write to. It takes no CPU.
    #
    # Rejected: a signal at the parent's death (PR_SET_PDEATHSIG), as it comes when the thread has ended that started
    # the server; and a thread in the server, as it would run inside of what is measured.
    class Guard
      # Without `--` before the group, which dash does not know.
      SCRIPT = <<~SHELL
        read -r word && exit
        kill -TERM -"$1"
        for second in 1 2 3 4 5; do kill -0 -"$1" && sleep 1; done
        kill -KILL -"$1"
        rm -rf "$2"
      SHELL

      # @param group [Integer] of the server's processes
      # @param directory [String] the folder that goes with them
      def initialize(group, directory)
        @group = group
        @directory = directory
      end

      # Begins to wait. Where there is no shell, or no process more can be had, nobody does.
      # @return [void]
      def start
        reader, @writer = IO.pipe
        @child = Child.new("sh", "-c", SCRIPT, "sh", @group.to_s, @directory, :chdir => "/", :in => reader,
          %i[out err] => File::NULL)
        @child.start
      rescue SystemCallError
        nil
      ensure
        reader&.close
      end

      # Has nobody wait any longer, which is told before the pipe ends. Safe to call again, and when it never started.
      # @return [void]
      def stop
        @writer&.puts unless @writer&.closed?
        @writer&.close
      rescue Errno::EPIPE
        nil # it has ended
      ensure
        @child&.stop
      end
    end
  end
end
