# frozen_string_literal: true

module PumaTuner
  module Advise
    # Base of the rules. One rule to a file in rules/: above the class its evidence, threshold and the threshold's
    # source, predicted effect, cost and undo; PRIORITY is its place among all advice, the higher coming first. What it
    # says is a table of its name in a file of report/advice_words/, its test has its name, too, and
    # docs/reference/advice.md has a section of each.
    class Rule
      # Of lines to set, where they go.
      PUMA_RB = "config/puma.rb"
      GEMFILE = "Gemfile"
      ENVIRONMENT = "environment"
      DATABASE_YML = "config/database.yml"

      # Since when database.yml calls it max_connections (Rails 8.1, Active Record's hash_config.rb); before, pool.
      MAX_CONNECTIONS_RAILS = Gem::Version.new("8.1")

      # @param situation [Situation]
      def initialize(situation)
        @situation = situation
        @constraints = situation.constraints
      end

      # @return [Integer] its place among the advice of this situation, the higher coming first
      def priority = self.class::PRIORITY

      # @return [Array<Advice>] empty when there is nothing to say
      def call = raise(InvariantError, "#{self.class} does not say what it advises")

      private

      def workload = @situation.workload

      def sweep = @situation.sweep

      def observation = @situation.observation

      # @return [Integer] today's
      def workers_count = @situation.topology.workers_count

      # @return [Integer] today's, of each worker
      def threads_count = @situation.topology.threads_count

      # @return [Array<Probe::LockObservation>] pools of connections that were watched
      def pools = observation&.locks.to_a.select { |lock| lock.kind == "pool" }

      def of_active_record?(pool) = pool.class_name.start_with?("ActiveRecord")

      # @param topology [Topology]
      # @return [Integer] threads of a worker that may each hold a connection, Puma's I/O threads included
      def holders_count(topology) = pumas_count(topology) + other_holders_count

      def pumas_count(topology) = topology.threads_count + workload.io_threads_count.to_i

      # Jobs may run in the serving processes: of Solid Queue in its mode :async, of GoodJob, of a Sidekiq in Puma.
      #
      # @return [Integer] threads of a worker beside Puma's own that were seen to hold a connection of Active Record's
      def other_holders_count
        served_count = observation&.processes.to_a.count { |process| process.role != "master" }
        seen_count = pools.filter_map { |pool| pool.threads_count if of_active_record?(pool) }.max.to_i
        workers_count = [served_count, @situation.topology.workers_count].max # some may have ended meanwhile
        [seen_count / workers_count - pumas_count(@situation.topology), 0].max
      end

      # @param topology [Topology]
      # @return [Integer] places for a worker's pool: one for each thread, and no more than the database takes of each
      #   worker, where that was told
      def places_for(topology)
        limit = @constraints.db_connections_count
        [holders_count(topology), *([limit / topology.workers_count, 1].max if limit)].min
      end

      # @param places_count [Integer] that Active Record's pool is to have
      # @return [Hash{String => String}] lines to set
      def pool_lines(places_count)
        rails = @situation.gem("activerecord")
        key = (rails && rails < MAX_CONNECTIONS_RAILS) ? "pool" : "max_connections"
        {DATABASE_YML => "#{key}: #{places_count}"}
      end

      # @param effect [Situation::Effect, nil] nil where nobody can forecast it: then it is a remark
      # @param lines [Hash{String => String}] to set, by the place where they go
      # @param factors [Hash{String => String}] the same, as `prove --variant` takes them
      # @return [Advice]
      def advice(effect: nil, lines: {}, factors: {}, **fields)
        Advice.new(rule: rule_name, topology: nil, throughput_ratio: effect&.throughput_ratio,
          p50_ratio: effect&.p50_ratio, p99_ratio: effect&.p99_ratio, lines: lines.freeze, factors: factors.freeze,
          **fields, evidence: fields.fetch(:evidence).compact.freeze)
      end

      # @return [Advice] without a prediction
      def remark(**fields) = advice(**fields)

      # @return [Statement]
      def say(kind, **facts) = Statement.of(kind, **facts)

      # "lock_bound" of Rules::LockBound.
      def rule_name = self.class.name[/\w+\z/].gsub(/(?<=[a-z])(?=[A-Z])/, "_").downcase
    end
  end
end
