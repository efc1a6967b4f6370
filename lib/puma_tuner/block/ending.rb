# frozen_string_literal: true

module PumaTuner
  module Block
    # The way in which a child process ended.
    #
    # reports: {what => content}, see Child
    # status: Process::Status
    # limit_s: the one it did not keep, for which it was killed; nil when it kept all
    # output: the last lines it wrote to standard error
    Ending = Data.define(:reports, :status, :limit_s, :output)

    class Ending
      # @return [Hash, nil] of Counting
      def counted = reports["counted"]

      # @return [Array<String>, nil] of the blocks
      def names = reports["loaded"]

      # @return [String, nil] what the user has to fix, as a clause: the file
      #   can't be loaded, the block can't be run once
      def mistake
        return failure unless failure.nil? || called?
        "#{died} before it had loaded the file.#{said}" if names.nil? && !status.signaled?
      end

      # @return [String, nil] why what it counted or profiled, if anything, must
      #   not be used, without what the app printed
      def void_reason
        return if counted || reports.key?("profiled")
        return "#{under_way} took longer than #{limit_s} s, and was stopped" if limit_s
        return "the block raised, having run before: #{reports["failed"][:kept]}" if failure
        "#{died} in the middle of it"
      end

      # @return [Array<String>] the last lines that belong to that
      def last_lines = failure ? failure.lines(chomp: true) : output

      private

      def failure = reports["failed"]&.fetch(:text)

      def called? = reports.key?("called")

      def under_way
        return "the block" if called?
        return "the block's first iteration" if names
        "loading the file"
      end

      def died
        return "its process ended by itself, with status #{status.exitstatus}," unless status.signaled?
        name = Signal.signame(status.termsig)
        "its process was killed by SIG#{name}#{" (as the kernel does when memory runs out)" if name == "KILL"}"
      end

      def said = output.empty? ? "" : " Its last lines:\n#{output.map { |line| "  | #{line}" }.join("\n")}"
    end
  end
end
