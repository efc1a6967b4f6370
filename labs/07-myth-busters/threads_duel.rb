# frozen_string_literal: true

require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # The story's own case in rounds: at 70% IO the rule gives three threads. What do fewer and more bring?
      class ThreadsDuel
        IO_RATIO = 0.7
        RULE, RAILS, MANY = %w[1x3 1x5 1x10].map { |topology| Entrant.puma(topology) }

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field.with_share(IO_RATIO, whole_s: sizes.whole_s)
          @sizes = sizes
          @run = run
        end

        # @return [Duel::Rounds]
        def call
          Duel.new(@field, [RULE, RAILS, MANY], [Asked.closed("/realistic", @sizes.clients_count, kept: true)], times: @sizes.duel, run: @run, title: "threads").call
        end
      end
    end
  end
end
