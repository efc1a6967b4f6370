# frozen_string_literal: true

module PumaTuner
  module CLI
    # How an app is forecast from a recording: shared by the commands that read one.
    module ForecastOptions
      STATION = /\A(?<kind>[a-z]+)=(?<count>\d+)\z/

      def self.included(command)
        command.class_eval do
          argument :observation, required: true, desc: "file written by `puma_tuner measure`"
          argument :companions, type: :array, required: false, desc: "recordings of the same app at other settings"
          option :what_if, desc: "a change that is assumed, such as \"cpu(/articles)*0.7\" or \"io(db)-20ms\" (docs/what_if.md); give it again for more"
          option :station, desc: "kind=N: waits of that kind (db, redis, http, file, io for the rest of IO, lock, sleep, pool) queue for N servers, such as db=20; give it again for more"
          option :seeds, default: PumaTuner::Predict::Sweeper::DEFAULT_SEEDS_COUNT.to_s, desc: "simulations of each scenario; more make intervals narrower"
          option :requests, default: PumaTuner::Predict::Sweeper::DEFAULT_REQUESTS_COUNT.to_s, desc: "requests counted in each simulation"
          option :seed, default: "1", desc: "of all that is left to chance"
        end
      end

      private

      # @param paths [Array<String>] of an observation, and of others of the same app at other settings
      # @return [RecordedApp]
      def app_of(*paths, what_if: nil, **)
        RecordedApp.read(paths, what_if: PumaTuner::Predict::WhatIf.parse(what_if.to_s.split("\n")), say: ->(text) { err.puts("puma_tuner: #{text}") })
      end

      # @return [Integer] counted in each simulation
      def requests_count(requests:, **) = Parse.count("--requests", requests, 100..1_000_000)

      # @return [PumaTuner::Predict::Sweeper]
      def sweeper_of(app, seed:, seeds:, station: nil, percentiles: [], **options)
        PumaTuner::Predict::Sweeper.new(workload: app.workload, machine: app.machine, seed: Parse.count("--seed", seed, 0..2**31),
          seeds_count: Parse.count("--seeds", seeds, 2..200), requests_count: requests_count(**options),
          past_error: app.past_error, what_if: app.what_if.to_a, remarks: app.remarks, limits: app.limits, stations: stations_of(station, app.workload),
          percentiles:, as_recorded: app.as_recorded)
      end

      # @return [PumaTuner::Predict::Sweep]
      def sweep_of(sweeper, scenarios)
        Progress.new(err).stage("predict", nil) { |stage| sweeper.call(scenarios) { |done, total| stage.done(done, total) } }
      end

      def stations_of(text, workload)
        stations = text.to_s.split("\n").map { |word| station_of(word) }
        twice = stations.map(&:kind).tally.find { |_, times| times > 1 }&.first
        raise UserMistake, "--station #{twice}: it is given twice; give it once" if twice
        stations.each { |station| insist_on_waits(station, workload) }
      end

      def station_of(word)
        match = STATION.match(word)
        unless match && PumaTuner::Predict::Station::KINDS.include?(match[:kind]) && match[:count].to_i.between?(1, 10_000)
          raise UserMistake, "--station #{word}: write a kind of wait (#{PumaTuner::Predict::Station::KINDS.join(", ")}) and how many servers it has, such as pool=5"
        end
        PumaTuner::Predict::Station.new(kind: match[:kind], servers_count: match[:count].to_i)
      end

      # A station that nobody comes to would look like one that is no bottleneck.
      def insist_on_waits(station, workload)
        kinds = workload.endpoints.flat_map(&:demands).flat_map(&:waited_kinds).uniq
        return if kinds.include?(station.kind)
        raise UserMistake, "--station #{station.kind}=#{station.servers_count}: no recorded request has a wait of that kind; there is #{kinds.empty? ? "no wait at all" : kinds.sort.join(", ")}"
      end
    end
  end
end
