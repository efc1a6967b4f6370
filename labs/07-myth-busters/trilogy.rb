# frozen_string_literal: true

require_relative "blocks"
require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # mysql2 against Trilogy in the app itself, which is what was published: the same Puma by MYTH_CLIENT, at a page of 50 rows and at the realistic request,
      # whose query has one.
      class Trilogy
        TRILOGY = Entrant.puma("1x5", name: "with Trilogy", environment: {"MYTH_CLIENT" => "trilogy"})
        MYSQL2 = Entrant.puma("1x5", name: "with mysql2", factors: Pins.factors("mysql2" => Pins::MYSQL2), environment: {"MYTH_CLIENT" => "mysql2"})

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
        end

        # @return [Duel::Rounds]
        def call
          loads = %w[/page /realistic].map { |path| Asked.closed(path, TRILOGY.topology.slots_count) }
          Duel.new(@field, [MYSQL2, TRILOGY], loads, times: @sizes.duel, run: @run, title: "database clients in the app").call
        end
      end
    end
  end
end
