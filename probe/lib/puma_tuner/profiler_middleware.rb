# frozen_string_literal: true

module PumaTuner
  # `use PumaTuner::ProfilerMiddleware, with: "vernier", token: ENV["PROFILE_TOKEN"]`: profiles single requests of a
  # running app, one at a time, when they are allowed to:
  #
  # - by a token in the header X-Puma-Tuner-Profile; the response says in the same header where the profile is;
  # - or by a permit, a file on the server (`touch tmp/puma_tuner/profile`): one profile for each permit, of the next
  #   request, whoever sends it. It must belong to the server's own user, and nobody else may have been able to write
  #   it.
  #
  # Without either, a request costs a look into a hash, and once a second a look for the permit.
  class ProfilerMiddleware
    PERMIT_CHECK_S = 1

    # @param app [#call]
    # @param with [String] a profiler, of the app's own bundle
    # @param mode [String, nil] nil: its usual one
    # @param token [String, nil] at least 16 characters; nil: none will do
    # @param permit [String, nil] path of the permit; nil: none will do
    # @param folder [String] where profiles go
    # @param interval_us [Integer, nil] microseconds between two samples; nil: the profiler's usual ones
    def initialize(app, with:, mode: nil, interval_us: nil, token: nil, permit: "tmp/puma_tuner/profile",
      folder: "tmp/puma_tuner/profiles")
      raise UsageError, "the token is too short; use at least 16 characters" if token && token.length < 16
      profiler = Probe::Profilers.find(with)
      @app = app
      @token = token
      @permit = permit && File.expand_path(permit)
      @permit_looked_at_s = 0
      @settings = Probe::Profiling::Settings.new(profiler: profiler::NAME, mode: profiler.known_mode(mode),
        interval_us:, folder: File.expand_path(folder), scope: "request", token:, paths: [])
    end

    # @param env [Hash] Rack's environment
    # @return [Array(Integer, Hash, #each)] the app's response
    def call(env)
      token = @token && env.key?(Probe::Profiling::OneRequest::KEY) &&
        Probe::Profiling::OneRequest.same?(env[Probe::Profiling::OneRequest::KEY], @token)
      return @app.call(env) unless token || permitted?
      profiled(env, tell: token)
    end

    private

    def profiled(env, tell:)
      return @app.call(env) unless place?
      status, headers, body = Probe::Profiling::OneRequest.around(@settings, env) { @app.call(env) }
      path = env[Probe::Profiling::OneRequest::MADE]
      # Only the token's owner is told where files are.
      headers = {**headers, Probe::Profiling::OneRequest::HEADER.downcase => path} if tell && path
      [status, headers, body]
    end

    # Without a place for profiles the client still gets its response.
    def place?
      require "fileutils"
      FileUtils.mkdir_p(@settings.folder)
    rescue SystemCallError => error
      Probe.say("a request could not be profiled (#{error.class}: #{error.message})")
    end

    # Taking it away is what makes it good for one profile, whichever process is first.
    def permitted?
      return false unless @permit
      now_s = Clock.now_s
      return false if now_s - @permit_looked_at_s < PERMIT_CHECK_S
      @permit_looked_at_s = now_s
      stat = File.lstat(@permit)
      return false unless stat.file? && stat.owned? && (stat.mode & 0o022).zero?
      File.unlink(@permit)
      true
    rescue SystemCallError
      false
    end
  end
end
