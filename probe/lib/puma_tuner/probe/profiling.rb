# frozen_string_literal: true

module PumaTuner
  module Probe
    # Takes profiles in the target process when it is told to. Nothing is loaded for it before the first order but these
    # few files; the profiler itself comes last on $LOAD_PATH, so that a version of the app's own goes first.
    module Profiling
      PumaTuner.autoload_folder(self, "#{__dir__}/profiling")

      START = "profile start"
      STOP = "profile stop"

      class << self
        # @return [Hash{String => #call}] orders that Probe::SignalQueries passes on; empty when nobody wants a profile
        def orders
          settings = Settings.from_environment or return {}
          prepare(settings)
          {START => -> { start(settings) }, STOP => -> { stop }}
        end

        # @api private
        def session(settings) = Session.new(settings)

        private

        # These constants are named here, and so loaded now: a process that is measured must not load anything.
        def prepare(settings)
          const_get(:Session)
          case settings.scope
          when "request" then OneRequest.install(settings)
          when "outliers" then RequestLog.install
          end
        end

        def start(settings)
          raise "a profile is being taken already" if @session
          @session = session(settings)
          RequestLog.begin_log if settings.scope == "outliers"
          @session.start
          nil
        rescue Exception # rubocop:disable Lint/RescueException -- a profiler that is not there raises LoadError
          @session = nil
          raise
        end

        # @return [String] the profiler's file
        def stop
          session, @session = @session, nil
          raise "no profile is being taken" unless session
          path = session.stop
          RequestLog.write("#{path}.requests") if session.outliers?
          path
        end
      end
    end
  end
end
