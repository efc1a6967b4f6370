# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      Goals = Options.group(:slo, :at, :memory, :cores, :db_connections)

      # What somebody wants of the app, and what it may take: one group of options, of which each command has those that
      # mean something there.
      class Goals
        # @return [Array<String>] changes of the machine that are assumed
        def what_if = cores ? ["cores=#{cores}"] : []

        # @return [Advise::Constraints]
        def constraints
          Advise::Constraints.new(goals: slo, max_memory_bytes: memory, db_connections_count: db_connections)
        end

        # @param recorded [Model::Arrivals, nil]
        # @return [Model::Arrivals] the load that the goals are about
        def arrivals(recorded) = at ? Model::Arrivals.open(at, reuse_count: recorded&.reuse_count) : recorded
      end
    end
  end
end
