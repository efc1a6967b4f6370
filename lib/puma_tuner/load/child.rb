# frozen_string_literal: true

module PumaTuner
  module Load
    # A command that is waited for, and that never outlives the wait.
    module Child
      # @param command [Array<String>]
      # @param limit_s [Numeric] then it is killed
      # @return [Array(String, Process::Status), nil] what it printed, on either stream, and how it ended;
      #   nil when it took too long
      def self.output_of(command, limit_s:)
        reader, writer = IO.pipe
        pid = Process.spawn(*command, in: File::NULL, out: writer, err: writer)
        writer.close
        reading = Thread.new { reader.read }
        return unless reading.join(limit_s)
        status = wait(pid)
        pid = nil
        [reading.value, status]
      ensure
        stop(pid) if pid
        reading&.kill&.join
        [reader, writer].each { |io| io&.close }
      end

      class << self
        private

        def wait(pid) = Process.wait2(pid).last

        def stop(pid)
          Process.kill(:KILL, pid)
          wait(pid)
        rescue Errno::ESRCH, Errno::ECHILD
          # An interruption can fall between its end and our taking note of it.
        end
      end
    end
  end
end
