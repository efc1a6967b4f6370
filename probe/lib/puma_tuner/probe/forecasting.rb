# frozen_string_literal: true

module PumaTuner
  module Probe
    # Has this server's settings forecast by gem puma_tuner, where that is installed, in a process beside it: the
    # simulator never comes into the app's processes or its bundle. The process writes a Recommendation and ends; it is
    # started anew after a pause.
    module Forecasting
      NAME = "forecast"

      # The first is soon enough for somebody who looks at the lines, and the last rare enough for a server's life.
      PAUSES_S = (20..600)

      # This variable with the value "off" keeps it from running.
      SWITCH = "PUMA_TUNER_FORECAST"

      # A Recommendation of nothing, as text: the process that leads a server writes it, and loads no json before the
      # app has chosen its version.
      NO_ENGINE = '{"topology":null,"today":null,"metric":null,"ratio":null,"requests_count":0,' \
        '"why_not":"no_engine","detail":null,"made_at_s":%.3f,"withheld":[]}'

      # Its file, beside the ledgers.
      FILE = "recommendation"

      # What the process runs. RubyGems is needed to compare versions, and would take longer to load than a master may
      # wait; so it is loaded after the fork.
      SCRIPT = <<~RUBY
        PumaTuner::Probe::Sidecar.main do |settings|
          require "rubygems"
          require "puma_tuner"
          PumaTuner::ServerForecast.new(**settings).call
        end
      RUBY

      class << self
        # Nothing is forecast beside a server that a command of ours measures.
        # @return [void]
        def start
          return if ENV[SWITCH] == "off" || ENV["PUMA_TUNER_DIRECTORY"]
          Sidecars.add(NAME) { |ledgers, leader| supervisor(ledgers, leader) }
        end

        # @return [String, nil] folder of $LOAD_PATH with this version of gem puma_tuner, which the app's bundle need
        #   not know
        def engine_folder
          folders.find { |folder| File.file?(File.join(folder, "puma_tuner/server_forecast.rb")) }
        end

        private

        def supervisor(ledgers, leader)
          folder = engine_folder
          unless folder
            AtomicFile.write(File.join(ledgers.directory, FILE), format(NO_ENGINE, Time.now.to_f))
            return
          end
          Supervisor.new(NAME, script: SCRIPT, folders: [folder], pauses_s: PAUSES_S, once: true,
            settings: {**leader, directory: File.expand_path(ledgers.directory)})
        end

        # Beside the probe, as both gems lie in a checkout and in one folder of gems; then wherever gems are.
        def folders
          places = [File.expand_path("../..", LIBRARY_FOLDER)]
          places += [*Gem.path, Gem.default_dir].map { |path| File.join(path, "gems") } if defined?(Gem.path)
          [*$LOAD_PATH.map(&:to_s), File.join(places.first, "lib"),
            *places.flat_map { |place| Dir[File.join(place, "puma_tuner-#{VERSION}{,-*}/lib")] }]
        end
      end
    end
  end
end
