# frozen_string_literal: true

module PumaTuner
  module Host
    # Asks the Ruby processes of a server that we started, while it serves, without a thread in them or a hook on its
    # requests: a signal makes the process write its answer into the run's folder.
    #
    # Both sides are here, as they must agree: `install` runs in the server, Asking in the command.
    module Meter
      # Of asynchronous files, which no Ruby server uses (Puma has taken PWR, URG and more). It ends a process that does not
      # expect it, so it is sent only to those that do.
      SIGNAL = "IO"

      FOLDER = "meter"
      QUESTION = "question"

      # @param answers [Hash{String => #call}] question to what answers it, with something that Marshal can write
      def self.install(directory, answers)
        folder = File.join(directory, FOLDER)
        make(folder)
        # A trap must not wait for a lock, and most of Ruby's library takes some: a thread does the work, and ends.
        trap(SIGNAL) { Thread.new { answer(folder, answers) } }
      end

      # A command may start several Rubies at once, such as `bundle` and what it runs.
      def self.make(folder)
        Dir.mkdir(folder)
      rescue Errno::EEXIST
        nil
      end
      private_class_method :make

      def self.answer(folder, answers)
        number, question = File.read(File.join(folder, QUESTION)).split(" ", 2)
        said = begin
          [:answer, answers.fetch(question).call]
        rescue Exception => error # rubocop:disable Lint/RescueException -- the app must go on, whatever it is
          [:failed, "#{error.class}: #{error.message}"]
        end
        path = File.join(folder, "#{number}-#{Process.pid}")
        File.binwrite("#{path}.partial", Marshal.dump(said))
        File.rename("#{path}.partial", path)
      rescue SystemCallError
        nil # the command has gone, and its folder with it
      end
      private_class_method :answer

      # The command's side.
      class Asking
        LIMIT_S = 3

        # @param directory [String] the run's folder
        def initialize(directory)
          @folder = File.join(directory, FOLDER)
          @number = 0
        end

        # @param pids [Array<Integer>]
        # @param limit_s [Numeric] for each answer
        # @return [Hash{Integer => Object}] the answers of those that gave one
        # @raise [VoidMeasurement] when a process failed to answer
        def call(question, pids, limit_s: LIMIT_S)
          able = pids.select { |pid| expects_signal?(pid) }
          return {} if able.empty? || !Dir.exist?(@folder)
          File.write(File.join(@folder, QUESTION), "#{@number += 1} #{question}")
          able.each { |pid| Process.kill(SIGNAL, pid) }
          able.to_h { |pid| [pid, answer_of(pid, limit_s)] }.compact.transform_values(&:first)
        rescue Errno::ESRCH
          {}
        end

        private

        # The kernel's list of signals that a process catches, a bit for each.
        def expects_signal?(pid)
          caught = Processes.read("/proc/#{pid}/status")[/^SigCgt:\s*(\h+)/, 1]
          caught && caught.hex[Signal.list.fetch(SIGNAL) - 1] == 1
        end

        # In an array, as nil is an answer, too.
        def answer_of(pid, limit_s)
          path = File.join(@folder, "#{@number}-#{pid}")
          deadline_s = now_s + limit_s
          until File.exist?(path)
            return if now_s > deadline_s || !Processes.alive?(pid)
            sleep 0.002
          end
          kind, answer = Marshal.load(File.binread(path)) # rubocop:disable Security/MarshalLoad -- written by a server of ours
          raise VoidMeasurement, "process #{pid} of the server could not answer: #{answer}" if kind == :failed
          [answer]
        end

        def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
