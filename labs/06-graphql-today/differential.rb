# frozen_string_literal: true

# Asks the gem and the patched gem the same seeded queries in processes of their own, and compares answers, logs of hooks and errors
# byte for byte.
#
#     bin/exec ruby labs/06-graphql-today/differential.rb [--schemas 100] [--queries 20] [--seed 1] [--engine classic,next] [--patches 1] [--ruby PATH]
require "json"
require "open3"
require "optparse"
require "rbconfig"

module GraphqlToday
  module Differential
    # Runs both and holds them against each other.
    class Comparison
      CHILD = File.join(__dir__, "differential", "child.rb")

      Outcome = Data.define(:cases, :schemas, :with_data, :with_errors, :raised, :invalid, :differences)

      # A child ended with an error of its own.
      Failed = Class.new(StandardError)

      # @param queries [Integer] per schema; introspection comes on top
      # @param patches [String] see Patches.load_named
      # @param child [String] the program to run, this lab's or a copy's
      def initialize(engine:, schemas:, queries:, seed: 1, patches: "1", ruby: RbConfig.ruby, child: CHILD)
        @child = child
        @engine = engine
        @schemas = schemas
        @queries = queries
        @seed = seed
        @patches = patches
        @ruby = ruby
      end

      # @return [Outcome]
      def call
        plain, patched = ["0", @patches].map { |patches| answers(patches) }
        raise Failed, "#{plain.size} and #{patched.size} answers" if plain.size != patched.size
        parsed = plain.map { |line| JSON.parse(line) }
        Outcome.new(cases: plain.size, schemas: @schemas, with_data: parsed.count { |one| data?(one) }, with_errors: parsed.count { |one| errors(one).any? },
          raised: parsed.count { |one| one["raised"] }, invalid: parsed.count { |one| invalid?(one) },
          differences: plain.zip(patched).reject { |one, other| one == other })
      end

      private

      def answers(patches)
        output, error_output, status = Open3.capture3({"RUBYOPT" => nil, "RUBYLIB" => nil}, @ruby, "-W0", @child, patches, @engine, @seed.to_s, @schemas.to_s, @queries.to_s)
        raise Failed, "PATCHED=#{patches} #{@engine}: #{error_output.lines.last(20).join}" unless status.success?
        output.lines
      end

      def each_answer(one) = Array(one["answer"].is_a?(Array) ? one["answer"] : [one["answer"]]).compact

      def data?(one) = each_answer(one).any? { |answer| answer["data"] }

      def errors(one) = each_answer(one).flat_map { |answer| answer["errors"] || [] }

      def invalid?(one) = one["answer"] && each_answer(one).none? { |answer| answer.key?("data") }
    end
  end
end

if $PROGRAM_NAME == __FILE__
  options = {schemas: 100, queries: 20, seed: 1, patches: "1", ruby: RbConfig.ruby}
  engines = %w[classic next]
  OptionParser.new do |parser|
    %i[schemas queries seed].each { |name| parser.on("--#{name} N", Integer) { |value| options[name] = value } }
    %i[patches ruby].each { |name| parser.on("--#{name} VALUE") { |value| options[name] = value } }
    parser.on("--engine LIST", Array) { |value| engines = value }
  end.parse!
  failed = engines.map do |engine|
    outcome = GraphqlToday::Differential::Comparison.new(engine:, **options).call
    puts "#{engine}: " + outcome.to_h.except(:differences).map { |name, value| "#{name} #{value}" }.join(", ") + ", differences #{outcome.differences.size}"
    outcome.differences.first(3).each { |pair| puts pair, "" }
    outcome.differences.any?
  end
  exit(failed.none?)
end
