# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # Points at what the database's client library takes of the CPU: casting values, building rows. Another client
      # brought about 10% in one app (mysql2 to Trilogy: osyoyu, Kaigi on Rails 2024).
      #
      # Evidence: 3% of the CPU or more below the client's methods, which also tell which client it is: each has cures
      # of its own. Of wall time nothing can be said, as it is the database that takes it.
      class DatabaseClientShare
        # By the class of a client: its gem, and what else there is to do about it.
        CLIENTS = {
          "Mysql2" => ["mysql2", "try Trilogy in its place"],
          "Trilogy" => ["trilogy", nil],
          "PG" => ["pg", "let it cast to Ruby's own types (PG::BasicTypeMapForResults) where the app does that itself"],
          "SQLite3" => ["sqlite3", "look whether an index is missing, as SQLite computes in this very process"]
        }.freeze
        FAMILY = /\A(#{Regexp.union(CLIENTS.keys)})(?:::|[#.])/

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          return unless costs.mode == "cpu"
          Share.hint(costs, rule: "database_client_share", what: ->(names) { what(names, costs.gems) },
            cure: ->(names) { cure(names, costs.gems) }, proof: ->(names) { proof(names) }) do |method|
            FAMILY.match?(method.name)
          end
        end

        private

        # The dearest method's.
        def client(names) = CLIENTS.fetch(names.first[FAMILY, 1])

        def what(names, gems)
          gem, = client(names)
          "the database's client library (#{[gem, gems[gem]].compact.join(" ")})"
        end

        def cure(names, gems)
          gem, own = client(names)
          rows = "Ask for fewer columns and rows#{"; `pluck` where no record is needed" if active_record?(gems)}"
          "#{[rows, own, "a newer version of #{gem}"].compact.join("; ")}."
        end

        # Where nobody told which gems there are, there may be.
        def active_record?(gems) = gems.empty? || gems.key?("activerecord")

        def proof(names)
          gem, = client(names)
          return "puma_tuner prove today.ru trilogy.ru --primary cpu_per_request" if gem == "mysql2"
          "puma_tuner prove --variant today: --variant newer:gem.#{gem}=VERSION --primary cpu_per_request"
        end
      end
    end
  end
end
