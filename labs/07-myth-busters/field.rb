# frozen_string_literal: true

require_relative "amounts"
require_relative "database"
require_relative "entrant"
require_relative "stand"
require_relative "tarai"

module PumaTuner
  module Labs
    class MythBusters
      # Where all servers of a run meet: the same database, the same amounts.
      class Field
        # The story's: `SELECT sleep(0.05)`, which is 70% of a request.
        SLEEP_S = 0.05
        IO_RATIO = 0.7

        # @return [Hash{Symbol => Float}] ruby_ns, go_ns: of CPU for a unit of work
        attr_reader :pace

        # @return [Amounts]
        attr_reader :amounts

        # @return [Database]
        attr_reader :database

        # @param database [Database]
        # @param pace [Hash{Symbol => Float}]
        # @param amounts [Amounts]
        def initialize(database, pace:, amounts: Amounts.of_sleep(SLEEP_S, io_ratio: IO_RATIO, **pace))
          @database = database
          @pace = pace
          @amounts = amounts
        end

        # @param run [Lab::Run]
        # @return [Hash{Symbol => Float}]
        def self.pace(run)
          output, status = Open3.capture2(GoServer.path, "pace")
          raise UsageError, "the server in Go can't be run (#{status})" unless status.success?
          {ruby_ns: Float(run.child("pace.rb")), go_ns: Float(output)}
        end

        # @param io_ratio [Float]
        # @param whole_s [Float]
        # @return [Field] the same with other amounts
        def with_share(io_ratio, whole_s:) = self.class.new(database, pace:, amounts: Amounts.of_whole(whole_s, io_ratio:, **pace))

        # @param units [Integer] of work in a request to /talk
        # @return [Field] the same with so many
        def with_talk(units) = self.class.new(database, pace:, amounts: amounts.with(talk_units: units))

        # @return [Hash{String => String}] of all servers
        def environment = {**amounts.environment, "MYTH_SOCKET" => database.socket}

        # Servers that are up at the same time; all are stopped, whatever happens.
        #
        # @param entrants [Array<Entrant>]
        # @yieldparam stands [Array<Stand>] in their order
        def serving(entrants, stands = [], &block)
          return yield(stands) if entrants.empty?
          entrant, *others = entrants
          server = entrant.server(environment)
          begin
            server.start
            serving(others, [*stands, Stand.new(entrant, server, database)], &block)
          ensure
            server.stop
          end
        end
      end
    end
  end
end
