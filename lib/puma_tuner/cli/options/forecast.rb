# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      Forecast = Options.group(:observation, :companions, :what_if, :station, :seeds, :simulated_requests, :seed)

      # The options that say how an app is forecast from recordings.
      class Forecast
        STATION = /\A(?<kind>[a-z]+)=(?<count>\d+)\z/

        # @param say [#call] told what is wrong with the user's own files beside it
        # @param what_if [Array<String>] changes beside those of the option
        # @return [RecordedApp]
        def app(say, what_if: [])
          changes = Predict::WhatIf.parse([*self.what_if, *what_if])
          RecordedApp.read([observation, *companions], what_if: changes, say:)
        end

        # @param app [RecordedApp]
        # @param percentiles [Array<String>] to tell
        # @param goals [Array<Goal>] that forecasts are held against, for which the load is searched
        # @return [Predict::Sweeper]
        def sweeper(app, percentiles: [], goals: [])
          requests_count = simulated_requests
          requests_count = [requests_count, Predict::CapacitySearch::REQUESTS_COUNT].max if goals.any?
          Predict::Sweeper.new(workload: app.workload, machine: app.machine, seed:, seeds_count: seeds,
            requests_count:, past_error: app.past_error, what_if: app.what_if.to_a,
            remarks: app.remarks, limits: app.limits, stations: stations(app.workload), percentiles:, goals:,
            as_recorded: app.as_recorded)
        end

        # @param workload [Model::Workload]
        # @return [Array<Predict::Station>]
        def stations(workload)
          all = station.map { |word| station_of(word) }
          twice = all.map(&:kind).tally.find { |_, times| times > 1 }&.first
          raise UsageError, "--station #{twice} is given twice; give it once" if twice
          all.each { |one| ensure_recorded_waits(one, workload) }
        end

        private

        def station_of(word)
          match = STATION.match(word)
          if match && Predict::Station::KINDS.include?(match[:kind]) && match[:count].to_i.between?(1, 10_000)
            return Predict::Station.new(kind: match[:kind], servers_count: match[:count].to_i)
          end
          raise UsageError, "--station #{word}: write a kind of wait (#{Predict::Station::KINDS.join(", ")}) and how " \
            "many servers it has, such as pool=5"
        end

        # A station that nobody comes to would look like one that is no bottleneck.
        def ensure_recorded_waits(station, workload)
          demands = workload.endpoints.flat_map(&:demands)
          kinds = demands.flat_map(&:served_kinds).uniq
          return if kinds.include?(station.kind)
          if demands.any? { |demand| demand.waited_kinds.include?(station.kind) }
            least = " of #{Units.duration(Model::Demand::SLEPT_NS)} or more, and shorter ones wait for no server"
          end
          raise UsageError, "--station #{station.kind}=#{station.servers_count}: " \
            "no recorded request has a wait of that kind#{least}; there is " \
            "#{kinds.empty? ? "no #{"other " if least}wait at all" : kinds.sort.join(", ")}"
        end
      end
    end
  end
end
