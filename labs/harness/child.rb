# frozen_string_literal: true

require "json"
require "shellwords"

module PumaTuner
  module Lab
    # One of a lab's programs, run once in a process of its own: what it prints on standard output is its answer, as JSON.
    # It never outlives the call, nor does what it started.
    class Child
      OUTPUT_LINES = 12

      # @param command [Host::Command] that ends in a Ruby
      # @param file [String] the program
      # @param words [Array<String>] for it
      # @param limit_s [Numeric]
      # @return [Object] what it answered
      # @raise [MeasurementFailed] when it failed, took too long, or answered no JSON
      def self.call(command, file, words = [], limit_s: 120)
        child = new(command, file, words)
        child.start
        child.answer(limit_s)
      ensure
        child&.stop
      end

      def initialize(command, file, words)
        @command = command
        @words = [*command.words, file, *words]
      end

      # An interruption in between would leave a child that nobody knows of, or an end of a pipe open whose other end is read to its end.
      def start = Thread.handle_interrupt(Exception => :never) { begin_child }

      def answer(limit_s)
        fail_with("took longer than #{limit_s} s") unless @waiting.join(limit_s)
        kill_group # what it started may hold its pipes open
        fail_with("failed (#{@waiting.value.to_s.sub(/\Apid \d+ /, "")})") unless @waiting.value.success?
        JSON.parse(@readers.first.value)
      rescue JSON::ParserError
        fail_with("printed no JSON")
      end

      # Makes sure that it is gone, and its group with it. Safe to call again, and when it never started.
      def stop
        if @pid
          kill_group
          @waiting.join
          @readers&.each(&:join)
          @pid = nil
        end
        [@out, @err].each { |stream| stream&.close }
      end

      private

      def begin_child
        pipes = [IO.pipe, IO.pipe]
        (@out, out), (@err, err) = pipes
        @waiting = Process.detach(@pid = spawn(out, err))
        @readers = [@out, @err].map { |stream| Thread.new { stream.read.force_encoding(Encoding::UTF_8).scrub } }
      rescue SystemCallError => error
        raise UsageError, "#{@command} could not be started: #{error.message}. Is it installed?"
      ensure
        [out, err].each { |stream| stream&.close }
      end

      def spawn(out, err)
        Process.spawn(@command.environment, *@words, in: File::NULL, out:, err:, chdir: @command.directory, pgroup: true, unsetenv_others: true)
      end

      def kill_group
        Process.kill(:KILL, -@pid)
      rescue Errno::ESRCH, Errno::EPERM
        nil # nobody is left in it
      end

      def fail_with(problem)
        kill_group
        lines = @readers.last.value.lines(chomp: true).last(OUTPUT_LINES)
        gems = @command.environment["PUMA_TUNER_LAB_GEMS"]
        words = @words.drop(@command.words.size).shelljoin
        raise MeasurementFailed.new("a program of the lab #{problem}: #{words}#{" with #{gems}" if gems}.", output: lines)
      end
    end
  end
end
