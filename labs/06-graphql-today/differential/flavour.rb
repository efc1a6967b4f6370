# frozen_string_literal: true

module GraphqlToday
  module Differential
    # What Execution::Next does not have, or has in other ways.
    NOT_IN_NEXT = {runtime_directive: false, backtrace: false, timeout: false}.freeze

    # What kind of schema a seed stands for: which of graphql's features are on.
    Flavour = Data.define(:seed, :engine, :oddity, :lazies, :dataloader, :tracing, :visibility, :analyzers, :backtrace, :timeout,
      :runtime_directive, :subclass, :type_hooks, :handles_type_errors, :deep) do
      # @param seed [Integer]
      # @param engine [String] "classic" or "next"
      def self.of(seed, engine)
        random = Random.new(seed)
        chance = ->(share) { random.rand < share }
        flavour = new(seed:, engine:, oddity: [0.0, 0.08, 0.3].sample(random:), lazies: chance[0.5], dataloader: chance[0.4],
          tracing: [nil, nil, :empty, :fields, :all, :legacy].sample(random:), visibility: [nil, nil, :dynamic, :preload].sample(random:),
          analyzers: chance[0.2], backtrace: chance[0.15], timeout: chance[0.1], runtime_directive: chance[0.3], subclass: chance[0.2],
          type_hooks: chance[0.4], handles_type_errors: chance[0.3], deep: chance[0.2])
        return flavour unless flavour.next?
        flavour.with(**NOT_IN_NEXT, tracing: (:all if flavour.tracing == :all))
      end

      # May authorization be late? Execution::Next takes another way as soon as a schema resolves lazies, so not always there.
      def late_hooks? = lazies || (type_hooks && !next?)

      def next? = engine == "next"
    end
  end
end
