# frozen_string_literal: true

module PumaTuner
  module Probe
    # Answers what the command asks the processes of a server that it started, while they
    # serve, without a thread in them or a hook on their requests: a signal makes the
    # process write its reply into the run's folder. Host::SignalQuery is the other side.
    module SignalQueries
      # The signal is that of asynchronous files, which no Ruby server uses (Puma has taken PWR, URG and more). It ends
      # a process that does not expect it, so it is sent only to those that do.
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
        AtomicFile.write(File.join(folder, "#{number}-#{Process.pid}"), Marshal.dump(said))
      rescue SystemCallError
        nil # the command has gone, and its folder with it
      end
      private_class_method :answer
    end
  end
end
