# frozen_string_literal: true

module PumaTuner
  module Probe
    # The base of all profilers: a subclass says in constants what it is and can, starts and stops its gem inside of the
    # server. The command reads the file that this leaves (Profile::Readers). This file and a subclass's are loaded in
    # the server, so they load nothing but the gem.
    #
    # PRIORITY (its place in lists, the higher first), NAME, GEM (nil: a program), VERSION_REQUIREMENT and
    # PINNED_VERSION (known to work; what is installed), RUBY_REQUIREMENT, MODES ({mode => a sentence}, the default
    # first), EXTENSION and VIEWER of its file, STAMPED (whether stacks have thread and at_ns), OUTSIDE, TRACING (nil
    # for one that samples; else what seeing everything does to the app), DEFAULT_INTERVAL_US.
    class Profiler
      DEFAULT_INTERVAL_US = 1_000
      STAMPED = false
      TRACING = nil

      # Tells whether it watches processes from outside, and needs nothing in them.
      OUTSIDE = false

      class << self
        # @return [String]
        def default_mode = self::MODES.keys.first

        # @param mode [String, nil] nil: the default
        # @return [String]
        # @raise [UsageError]
        def known_mode(mode)
          return default_mode unless mode
          return mode if self::MODES.key?(mode)
          raise UsageError, "#{self::NAME} has no mode #{mode.inspect}; choose one of #{self::MODES.keys.join(", ")}"
        end
      end

      # @param mode [String, nil] one of MODES
      # @param path [String] of the file that `stop` writes; ends in EXTENSION
      # @param interval_us [Integer, nil] between two samples; nil: the default. Profilers that see everything have none
      # @raise [UsageError] for a mode that there is not
      def initialize(path:, mode: nil, interval_us: nil)
        @mode = self.class.known_mode(mode)
        @path = path
        @interval_us = interval_us || self.class::DEFAULT_INTERVAL_US
      end

      # Begins to profile the whole process.
      def start = raise(NotImplementedError)

      # Ends it, and writes the file at `path` in one step.
      # @return [void]
      def stop = raise(NotImplementedError)

      private

      # Requires the gem, and nothing else.
      # @yieldreturn [String] the version that came
      # @raise [UsageError] for a version that is not known to work: the app's own comes first on the load path
      def load_gem(feature)
        require feature
        @version = yield
        wanted = self.class::VERSION_REQUIREMENT
        if !defined?(::Gem::Requirement) || ::Gem::Requirement.new(wanted).satisfied_by?(::Gem::Version.new(@version))
          return
        end
        raise UsageError, "the app has #{self.class::NAME} #{@version}; versions known to work are #{wanted}. Update " \
          "it in the app's Gemfile, or take it out."
      end

      # Returns the facts that our reader wants and the profiler does not write itself. They are plain values only.
      def facts = {"profiler_version" => @version, "mode" => @mode, "interval_us" => @interval_us, "pid" => Process.pid}

      # The kernel's numbers of the threads that are there now, by the object's
      # id, which is what profilers know threads by.
      def note_threads
        @native_ids ||= {}
        Thread.list.each { |thread| @native_ids[thread.object_id] ||= thread.native_thread_id }
      end

      # Returns the CPU time of the whole process, for profilers whose own timers can't be summed up.
      def cpu_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)

      # Plain values, which the command reads without running anything. The library is loaded when the profile is over.
      def write_json(value)
        require "json"
        AtomicFile.write(@path, JSON.generate(value))
      end

      # @return [String, nil] a name or a path as JSON can hold it
      def text(told) = told && Processes.text(told.to_s)
    end
  end
end
