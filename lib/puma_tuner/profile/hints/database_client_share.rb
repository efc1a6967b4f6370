# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # Points at what the database's client library takes of the CPU: casting values, building rows. Another client
      # brought about 10% in one app (mysql2 to Trilogy: osyoyu, Kaigi on Rails 2024).
      #
      # Evidence: 3% of the CPU or more below the client's methods. Of wall
      # time nothing can be said, as it is the database that takes it.
      class DatabaseClientShare
        FAMILY = /\A(?:Mysql2|Trilogy|PG|SQLite3)(?:::|[#.])/

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          return unless costs.mode == "cpu"
          Share.hint(costs, rule: "database_client_share", what: "the database's client library",
            cure: "Ask for fewer columns and rows; Trilogy for mysql2; `pluck` where no record is needed; " \
              "a newer version of the client.",
            proof: "puma_tuner prove today.ru other_client.ru --primary cpu_per_request") do |method|
            FAMILY.match?(method.name)
          end
        end
      end
    end
  end
end
