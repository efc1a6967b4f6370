# frozen_string_literal: true

require_relative "go_server"
require_relative "pins"

module PumaTuner
  module Labs
    class MythBusters
      # A server that takes part: which program, with how many threads, in which environment.
      #
      # kind: "puma", "falcon" or "go"; topology: of a Puma; factors: of its Ruby, see Prove::Factors
      # puma_options: see Probe::Launch; environment: of its app
      Entrant = Data.define(:name, :kind, :topology, :factors, :puma_options, :environment) do
        # @param topology [String] "1x5"
        def self.puma(topology, name: "Puma #{topology}", factors: {}, puma_options: {}, environment: {})
          new(name:, kind: "puma", topology: Topology.parse(topology), factors: {**Pins.factors(Pins::PUMA), **factors}, puma_options:, environment:)
        end

        def self.falcon
          new(name: "Falcon", kind: "falcon", topology: nil, factors: Pins.factors({**Pins::PUMA, **Pins::FALCON, "json" => Pins::JSON.fetch("json").last}),
            puma_options: {}, environment: {})
        end

        def self.go = new(name: "Go", kind: "go", topology: nil, factors: {}, puma_options: {}, environment: {})

        # @param environment [Hash{String => String}] amounts and database
        # @return [Host::ServerProcess] not started yet
        def server(environment)
          command = command(environment)
          return Host::OtherServer.new(command, meter: false) unless kind == "puma"
          Host::ServerProcess.new(command, topology:, puma_options:, meter: true)
        end

        # @return [Host::Command]
        def command(environment)
          base = ruby
          words = {"puma" => [*base.words, File.join(__dir__, "serve.rb"), "puma"], "falcon" => [*base.words, File.join(__dir__, "serve.rb"), "falcon", Host::OtherServer::PLACE],
                   "go" => [GoServer.path]}.fetch(kind)
          base.with(words:, environment: {**base.environment, "RACK_ENV" => "production", **environment, **self.environment})
        end

        private

        def ruby
          variant = Prove::Variant.new(name:, factors:)
          Lab::Commands.new(folder: __dir__, variants: [variant], pins: Pins.all).call(variant)
        end
      end
    end
  end
end
