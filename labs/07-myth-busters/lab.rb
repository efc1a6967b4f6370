# frozen_string_literal: true

require_relative "go_server"
require_relative "pins"

module PumaTuner
  module Labs
    class MythBusters
      def name = "myth_busters"

      def title = "Puma against Go, and how many threads"

      def question = "\"The database is the bottleneck, so the language does not matter\": does it hold, and how many threads are right for a Puma?"

      def story = 5

      def gems(quick:) = Pins.all

      def expected_s(quick:) = quick ? 320 : 9_000

      def set_up(say:)
        Packages.insist
        GoServer.build(say:)
      end

      PumaTuner::Lab.register self
    end
  end
end
