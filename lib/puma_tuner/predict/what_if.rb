# frozen_string_literal: true

module PumaTuner
  module Predict
    # Changes to the app, its load or its machine that are only assumed, as
    # expressions such as `cpu(/articles)*0.7`: docs/reference/what_if.md lists them, each with
    # what it assumes. Pure: a workload and a machine go in, changed ones come out.
    #
    # Expressions are applied in the order they are written in, but all `mix` together, in the place of the first: each
    # of them says what share there is to be in the end.
    class WhatIf
      PumaTuner.autoload_folder(self, "#{__dir__}/what_if", locks: %i[PoolSize WithoutLock], shares: %i[Mix Weight],
        demand_changes: %i[Cpu DemandChange Gc Io Waits WithoutReleases Yjit],
        surroundings: %i[Cores Overhead PumasOwn Version WithoutThread])

      # The quantities that can be changed, and the classes that change them.
      CHANGES = {
        "cpu" => :Cpu, "io" => :Io, **(Probe::Parts::WAITS - Model::Demand::IO_KINDS).to_h { |kind| [kind, :Waits] },
        "gc" => :Gc, "yjit" => :Yjit, "overhead" => :Overhead, "traffic" => :Traffic, "rate" => :Traffic,
        "connections" => :Traffic,
        "mix" => :Mix, "weight" => :Weight, "cores" => :Cores, "puma" => :Version, "ruby" => :Version,
        "size" => :PoolSize,
        "without" => {"thread" => :WithoutThread, "lock" => :WithoutLock, "releases" => :WithoutReleases}.freeze
      }.freeze

      # @param texts [Array<String>] expressions
      # @return [WhatIf]
      # @raise [UsageError] for one that can't be understood
      def self.parse(texts) = new(texts.map(&:strip).reject(&:empty?).map { |text| Expression.parse(text) })

      # @param expressions [Array<Expression>]
      def initialize(expressions)
        @expressions = expressions.freeze
        @changes = changes.freeze
      end

      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @return [Array(Model::Workload, Model::Machine)]
      # @raise [UsageError] when there is nothing of what is to be changed
      def apply(workload, machine)
        return [workload, machine] if @changes.empty?
        most_ns = [LONGEST_NS, longest_ns(workload, machine)].max
        @changes.inject([workload, machine]) do |before, change|
          change.call(*before).tap { |after| ensure_short(longest_ns(*after), most_ns) }
        end
      end

      # @return [Array<String>] the expressions, as they were written
      def to_a = @expressions.map(&:text)

      # @return [Array<String>] what they assume beyond what they say
      def remarks = @changes.filter_map(&:remark).uniq

      # @return [Boolean] whether they say what load there is
      def load? = @changes.any?(Traffic)

      private

      # What a request may take. Thousands of longer ones, one after the other, last for more nanoseconds than the
      # simulation's 64 bits hold.
      LONGEST_NS = 3_600 * Units::NS_PER_S
      private_constant :LONGEST_NS

      def ensure_short(longest_ns, most_ns)
        return if longest_ns <= most_ns
        raise UsageError, "--what-if #{to_a.join(", ")}: a request would take longer than an hour; assume less"
      end

      def longest_ns(workload, machine)
        requests_ns = workload.endpoints.flat_map(&:demands).map { |demand| demand.held_ns + demand.wait_ns }
        pumas_ns = [workload.overhead_cpu_ns, *PumasOwn::OF_MACHINE.map { |name| machine.public_send(name) }]
        [*requests_ns, *pumas_ns.map(&:to_i)].max
      end

      def changes
        mixes = @expressions.select { |expression| expression.target == "mix" }
        @expressions.filter_map do |expression|
          next change(expression) unless expression.target == "mix"
          Mix.new(mixes) if expression.equal?(mixes.first)
        end
      end

      def change(expression)
        name = CHANGES.fetch(expression.target)
        name = name.fetch(expression.operator) if name.is_a?(Hash)
        self.class.const_get(name).new(expression)
      end
    end
  end
end
