# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profiling
      # Profiles of single requests: one at a time, those that carry the token. All others are served as ever.
      module OneRequest
        # The header's name, as a client sends it and as Rack spells it.
        HEADER = "X-Puma-Tuner-Profile"
        KEY = "HTTP_X_PUMA_TUNER_PROFILE"

        # The request's environment has the profile that was made of it under this key.
        MADE = "puma_tuner.profile"

        LOCK = Mutex.new

        class << self
          # Installs it in a server that we started: around all that Puma does for a request, not only around what a
          # middleware sees of it.
          def install(settings)
            @settings = settings
            Probe.recorder = self
            Puma.watch_requests
          end

          # See Recorder.
          def begin(client)
            return false unless same?(client.env[KEY], @settings.token) && LOCK.try_lock
            @session = begin_session(@settings)
            true
          end

          # See Recorder.
          def finish(client)
            client.env[MADE] = end_session(@session) if @session
          ensure
            @session = nil
            LOCK.unlock
          end

          # See Recorder.
          def job(_name) = yield

          # @param given [String, nil]
          # @param token [String]
          # @return [Boolean] told in a time that does not depend on where they differ
          def same?(given, token)
            return false unless given && given.bytesize == token.bytesize
            given.bytes.zip(token.bytes).reduce(0) { |difference, (one, other)| difference | (one ^ other) }.zero?
          end

          # @yield serves the request
          # @return what the block returns
          def around(settings, env)
            return yield unless LOCK.try_lock
            begin
              session = begin_session(settings)
              begin
                yield
              ensure
                env[MADE] = end_session(session) if session
              end
            ensure
              LOCK.unlock
            end
          end

          private

          # A profiler that can't be had must not cost the client its response.
          def begin_session(settings)
            Profiling.session(settings).tap(&:start)
          rescue LoadError, StandardError => error
            Probe.say("a request could not be profiled (#{error.class}: #{error.message})")
          end

          def end_session(session)
            session.stop
          rescue => error
            Probe.say("the profile of a request could not be written (#{error.class}: #{error.message})")
          end
        end
      end
    end
  end
end
