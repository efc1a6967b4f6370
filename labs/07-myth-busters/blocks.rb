# frozen_string_literal: true

require_relative "pins"

module PumaTuner
  module Labs
    class MythBusters
      # What is no server: libraries, and ways to compute side by side, as blocks of Ruby.
      class Blocks
        JSON_THEN, JSON_NOW = Pins::JSON.fetch("json").map { |version| "json #{version}" }
        OJ = "Oj #{Pins::JSON.fetch("oj")}".freeze

        JSON = {
          JSON_THEN => {"gem.json" => JSON_THEN.split.last},
          JSON_NOW => {"gem.json" => JSON_NOW.split.last},
          OJ => Pins.factors(Pins::JSON.slice("oj", "ostruct").merge(Pins::PUMA.slice("bigdecimal")))
        }.freeze

        MYSQL2 = "mysql2 #{Pins::MYSQL2}".freeze
        TRILOGY = "Trilogy #{Pins::PUMA.fetch("trilogy")}".freeze

        TURN, THREADS, RACTORS, KEPT, PROCESSES = "in turn", "two threads", "two Ractors", "two Ractors, kept", "two processes, kept"
        SIDE_BY_SIDE = [TURN, THREADS, RACTORS, KEPT, PROCESSES].to_h { |name| [name, {"block" => name}] }.freeze

        # With YJIT nothing is counted for each instruction, which is what Ractors get into each other's way by.
        COMPILED = [TURN, KEPT].to_h { |name| ["#{name}, YJIT", {"block" => name, "yjit" => "on"}] }.freeze

        TITLES = ["json", "database clients", "side by side", "side by side, YJIT"].freeze

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
        end

        # @return [Hash{String => Prove::Verdict}] "json", "database clients", "side by side", "side by side, YJIT"; those that came to nothing are missing
        def call
          # Processes of the blocks' own compute beside them, and would be taken for strangers.
          {
            "json" => proof("json_block.rb", JSON, "json"),
            # The database works beside it, and would be taken for a stranger on the machine. What counts is the client's CPU time.
            "database clients" => proof("database_block.rb", clients, "database clients", busy_machine: true),
            "side by side" => proof("parallel_block.rb", SIDE_BY_SIDE, "side by side", primary: "iterations", busy_machine: true),
            "side by side, YJIT" => proof("parallel_block.rb", COMPILED, "side by side, YJIT", primary: "iterations")
          }.compact
        end

        private

        def clients
          common = {"env.MYTH_SOCKET" => @field.database.socket, **Pins.factors(Pins::PUMA.slice("bigdecimal"))}
          {MYSQL2 => {**common, "env.MYTH_CLIENT" => "mysql2", "gem.mysql2" => Pins::MYSQL2},
           TRILOGY => {**common, "env.MYTH_CLIENT" => "trilogy", "gem.trilogy" => Pins::PUMA.fetch("trilogy")}}
        end

        # A machine that is never quiet voids round after round. The rest of the lab should not be lost by that.
        #
        # The database's socket is another one each time, so that a proof of it would not be known again as the same.
        def proof(file, variants, title, **options)
          @run.part(title) { @run.proof(file, variants, title:, **@sizes.block, **options) }
        rescue InvalidMeasurement => void
          @run.note("#{title} came to nothing: #{void.message}")
          nil
        end
      end
    end
  end
end
