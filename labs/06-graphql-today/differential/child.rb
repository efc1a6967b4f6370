# frozen_string_literal: true

# Answers seeded queries with or without patches, one line of JSON each. Started by Differential::Comparison.
#
#     ruby child.rb PATCHES ENGINE FIRST_SEED SCHEMAS QUERIES_EACH
require "json"
require_relative "../workloads"
require_relative "../patches"
require_relative "random_schema"
require_relative "random_query"

module GraphqlToday
  module Differential
    class Child
      # @param output [IO]
      # @param engine [String]
      # @param queries_each [Integer] per schema
      def initialize(output, engine, queries_each)
        @output = output
        @engine = engine
        @queries_each = queries_each
      end

      # @param seed [Integer] of the schema
      def call(seed)
        flavour = Flavour.of(seed, @engine)
        made = RandomSchema.new(flavour)
        @queries_each.times do |place|
          random = Random.new(seed * 1_000 + place)
          writer = RandomQuery.new(made, random)
          text = writer.text
          tell(seed:, place:, text:, **answer(made, text, writer.variables, random))
        end
        tell(seed:, place: @queries_each, text: "introspection", **answer(made, GraphQL::Introspection::INTROSPECTION_QUERY, {}, Random.new(seed)))
      end

      private

      # Addresses of anonymous classes are what no two processes have in common.
      def tell(**facts) = @output.puts(JSON.generate(facts).gsub(/0x\h+/, "0x"))

      def answer(made, text, variables, random)
        log = []
        context = {log:, sees_all: random.rand < 0.8, late_hooks: random.rand < 0.3 && made.flavour.late_hooks?}
        root = made.root(random.rand(100))
        {answer: ask(made.schema, text, variables, context, root, random), log:}
      rescue => error
        {raised: error.class.name, message: own_words(error), log:}
      end

      # What a message quotes of Ruby's backtrace is where the methods are, which is what a patch changes.
      def own_words(error) = error.message.lines.grep_v(/\.rb:\d+:in |\A +\.\.\. and \d+ more line|\A\s*\z/).join

      def ask(schema, text, variables, context, root, random)
        return schema.execute_next(text, variables:, context:, root_value: root).to_h if @engine == "next"
        return schema.execute(text, variables:, context:, root_value: root).to_h if random.rand < 0.85
        queries = Array.new(2) { {query: text, variables:, context: context.dup, root_value: root} }
        schema.multiplex(queries).map(&:to_h)
      end
    end
  end
end

patches, engine, first_seed, schemas, queries_each = ARGV
GraphqlToday::Patches.load_named(patches)
# graphql's own remarks go there, too.
output = $stdout.dup
$stdout.reopen(File::NULL)
child = GraphqlToday::Differential::Child.new(output, engine, Integer(queries_each))
Integer(schemas).times { |place| child.call(Integer(first_seed) + place) }
