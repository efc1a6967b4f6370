# frozen_string_literal: true

module PumaTuner
  # `use PumaTuner::Rack`: for apps whose command and puma.rb are out of reach. The middleware itself does nothing with
  # requests: being built, it attaches the probe to Puma, which sees what a middleware can't (the wait for the GVL before
  # the app is entered, the time in Puma's queue, the writing of the response).
  class Rack
    # @param app [#call]
    # @param interval_s [Numeric] seconds between two prints, 10 unless PUMA_TUNER_INTERVAL_S says otherwise
    # @param out [IO] where the threads' lines go
    def initialize(app, interval_s: Probe::Console.interval_s, out: $stdout)
      @app = app
      Probe.start(way_in: "rack", directory: ENV["PUMA_TUNER_DIRECTORY"], console: {interval_s:, out:})
    end

    def call(env) = @app.call(env)
  end
end
