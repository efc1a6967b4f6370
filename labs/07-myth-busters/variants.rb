# frozen_string_literal: true

require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # What else is said to help: each held against the same Puma without it.
      class Variants
        BASE = Entrant.puma("1x5")
        MN = {"env.RUBY_MN_THREADS" => "1"}.freeze

        def self.with_session(topology)
          Entrant.puma(topology, name: "with a session", factors: Pins.factors(Pins::SESSION), environment: {"MYTH_SESSION" => "on"})
        end
        private_class_method :with_session

        # All have the same request, the same number of threads, and differ in one thing.
        REALISTIC = [
          BASE,
          Entrant.puma("1x5", name: "M:N threads", factors: MN),
          Entrant.puma("1x5", name: "YJIT", factors: {"yjit" => "on"}),
          with_session("1x5"),
          Entrant.falcon
        ].freeze

        MANY = Entrant.puma("1x20")
        WAITING = [MANY, Entrant.puma("1x20", name: "M:N threads", factors: MN), with_session("1x20"), Entrant.falcon].freeze

        # Requests that only wait, and are marked so, beside some that compute.
        MARKED = {"MYTH_MARK_IO" => "on"}.freeze
        IO_THREADS = {"max_io_threads" => "17"}.freeze
        THREE = Entrant.puma("1x3", environment: MARKED)
        MIXED = [
          THREE,
          Entrant.puma("1x3", name: "with 17 IO threads", puma_options: IO_THREADS, environment: MARKED),
          Entrant.puma("1x3", name: "with 17 IO threads, fixed", puma_options: IO_THREADS, environment: {**MARKED, "MYTH_FIX_IO" => "on"}),
          Entrant.puma("1x20")
        ].freeze
        MIX = {"/io-only" => 9, "/cpu-only" => 1}.freeze

        # realistic, waiting, mixed: Duel::Rounds, each of one load
        Measured = Data.define(:realistic, :waiting, :mixed)

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
        end

        # @return [Measured]
        def call
          Measured.new(realistic: duel("variants", REALISTIC, "/realistic"), waiting: duel("variants, io only", WAITING, "/io-only"),
            mixed: duel("variants, mixed", MIXED, MIX, @sizes.mixed))
        end

        private

        def duel(title, entrants, path, times = @sizes.duel)
          @run.part(title) { Duel.new(@field, entrants, [Asked.closed(path, @sizes.saturated)], times:, run: @run, title:).call }
        end
      end
    end
  end
end
