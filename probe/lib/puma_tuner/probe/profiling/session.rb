# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profiling
      # One profile of this process, from its start to its file.
      class Session
        LOCK = Mutex.new
        @count = 0

        # @return [Integer] a number of its own for each profile of this process
        def self.next_number = LOCK.synchronize { @count += 1 }

        # @param settings [Settings]
        def initialize(settings)
          @settings = settings
        end

        # @raise [LoadError] when the profiler is not there
        def start
          # A version in the app's own bundle goes first.
          $LOAD_PATH.concat(@settings.paths - $LOAD_PATH)
          profiler = Profilers.find(@settings.profiler)
          @path = File.join(@settings.folder,
            "#{@settings.profiler}-#{Process.pid}-#{Session.next_number}#{profiler::EXTENSION}")
          @profiler = profiler.new(mode: @settings.mode, path: @path, interval_us: @settings.interval_us)
          @profiler.start
        rescue LoadError => error
          raise if @settings.paths.any?
          raise LoadError, "#{error.message}. It is not installed for the app's Ruby, " \
            "#{RUBY_VERSION}: put it into the app's Gemfile, or run puma_tuner on that Ruby"
        end

        # @return [String] path of its file
        def stop
          @profiler.stop
          @path
        end

        # @return [Boolean] whether the requests are logged beside
        def outliers? = @settings.scope == "outliers"
      end
    end
  end
end
