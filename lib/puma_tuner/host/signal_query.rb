# frozen_string_literal: true

module PumaTuner
  module Host
    # Asks the Ruby processes of a server that we started, while it serves: the other side of Probe::SignalQueries.
    class SignalQuery
      LIMIT_S = 3

      # To a process that does not expect it, the signal does nothing on macOS and the BSDs, and is the end on Linux.
      HARMLESS = RbConfig::CONFIG["host_os"].match?(/darwin|bsd/)

      # @param directory [String] the run's folder
      # @param told [Boolean] whether the kernel tells which signals a process expects
      # @param harmless [Boolean] whether it may be sent to any, where that is not told
      def initialize(directory, told: Probe::Processes.told?, harmless: HARMLESS)
        @told = told
        @harmless = harmless
        @folder = File.join(directory, Probe::SignalQueries::FOLDER)
        @number = Clock.now_ns # others may ask the same server, and replies have its number
      end

      # @param pids [Array<Integer>]
      # @param limit_s [Numeric] for each reply
      # @return [Hash{Integer => Object}] the replies of those that gave one
      # @raise [InvalidMeasurement] when a process failed to answer
      def call(question, pids, limit_s: LIMIT_S)
        able = pids.select { |pid| expects_signal?(pid) }
        return {} if able.empty? || !Dir.exist?(@folder)
        File.write(File.join(@folder, Probe::SignalQueries::QUESTION), "#{@number += 1} #{question}")
        able.each { |pid| Process.kill(Probe::SignalQueries::SIGNAL, pid) }
        able.to_h { |pid| [pid, reply_of(pid, limit_s)] }.compact.transform_values(&:first)
      rescue Errno::ESRCH
        {}
      end

      private

      # The kernel's list of signals that a process catches, a bit for each.
      def expects_signal?(pid)
        return @harmless unless @told
        caught = Probe::Processes.read("/proc/#{pid}/status")[/^SigCgt:\s*(\h+)/, 1]
        caught && caught.hex[Signal.list.fetch(Probe::SignalQueries::SIGNAL) - 1] == 1
      end

      # Returns the reply in an array, as nil is a reply, too.
      def reply_of(pid, limit_s)
        path = File.join(@folder, "#{@number}-#{pid}")
        deadline_s = Clock.now_s + limit_s
        until File.exist?(path)
          return if Clock.now_s > deadline_s || !Probe::Processes.alive?(pid)
          sleep 0.002
        end
        # The file was written by a server of ours.
        kind, reply = Marshal.load(File.binread(path)) # rubocop:disable Security/MarshalLoad
        raise InvalidMeasurement, "process #{pid} of the server could not answer: #{reply}" if kind == :failed
        [reply]
      end
    end
  end
end
