# frozen_string_literal: true

# Can the differential test fail? Breaks one condition of one cure at a time, in a copy of the lab, and asks whether it is noticed.
#
#     [SCHEMAS=40] [ONLY=next_objects] bin/exec ruby labs/06-graphql-today/mutations.rb
require "fileutils"
require "tmpdir"
require_relative "differential"

module GraphqlToday
  module Differential
    # Engine, cure, what is replaced, by what.
    MUTATIONS = [
      ["classic", "support/plain_values", "SPECIAL.none? { |special| special === value || kind <= special } && ", ""],
      ["classic", "support/plain_values", " && !lazy?(value)", ""],
      ["classic", "field_resolve", "OWN.all? { |name| method(name).owner.equal?(GraphQL::Schema::Field) }", "true"],
      ["classic", "field_resolve", "@extensions.empty? && ", ""],
      ["classic", "field_resolve", "error.field ||= self\n      schema.unauthorized_field(error)", "schema.unauthorized_object(error)"],
      ["classic", "object_wrap", "type.method(:authorized?).owner.equal?(GraphQL::Schema::Member::HasAuthorization)", "true"],
      ["classic", "object_wrap", "Silent.silent?(current_trace, Silent::AUTHORIZED_HOOKS)", "true"],
      ["classic", "list_items", "ast_node.directives.empty? && ", ""],
      ["classic", "list_items", "runtime_state.current_result_name = this_idx", "runtime_state.current_result_name = 0"],
      ["classic", "gather_once", " && without_directives?(selections)", ""],
      ["classic", "gather_once", "by_type[type] ||=", "by_type[:any] ||="],
      ["classic", "field_step", "Silent.silent?(@current_trace, Silent::FIELD_HOOKS) && ", ""],
      ["classic", "field_step", "return if selections_result.graphql_dead", ""],
      ["classic", "field_step", "state.current_result_name = result_name", ""],
      ["classic", "field_step", "state.was_authorized_by_scope_items = nil", ""],
      ["classic", "field_step", "return false if all.any? { |node| !node.directives.empty? }", ""],
      ["classic", "field_step", "(value.nil? ? !step.non_null : no_errors?(value))", "(value.nil? || no_errors?(value))"],
      ["classic", "field_step", "!value.first.is_a?(GraphQL::ExecutionError) && ", ""],
      ["classic", "field_step", " || !field.extras.empty?", ""],
      ["classic", "enum_lookup", "found[value]\n", "found.values.first\n"],
      ["next", "next_leaves", "value.nil? || value.is_a?(GraphQL::Execution::Finalizer)", "value.nil?"],
      ["next", "next_leaves", " || leaf.list?", ""],
      ["next", "next_objects", "return super if field_result.nil? || field_result.is_a?(GraphQL::Execution::Finalizer)", ""],
      ["next", "next_objects", "!@runner.resolves_lazies && ", ""],
      ["next", "next_objects", "!@runner.authorizes?(@static_type, @selections_step.query.context)", "true"],
      ["next", "next_objects", "nested || item.nil? || item.is_a?(GraphQL::Execution::Finalizer)", "nested || item.nil?"],
      ["next", "enum_lookup", "found[value]\n", "found.values.first\n"]
    ].freeze

    # A copy of the lab with one thing broken.
    class Mutation
      def initialize(engine, cure, from, to)
        @engine = engine
        @cure = cure
        @from = from
        @to = to
      end

      # @return [Boolean] noticed
      def call(schemas:)
        Dir.mktmpdir do |folder|
          FileUtils.cp_r("#{__dir__}/.", folder)
          break_it(File.join(folder, "patches", "#{@cure}.rb"))
          Comparison.new(engine: @engine, schemas:, queries: 10, seed: 5_000, child: File.join(folder, "differential", "child.rb")).call.differences.any?
        rescue Comparison::Failed
          true
        end
      end

      def to_s = "#{@engine} #{@cure}: #{@from.lines.first.strip} -> #{@to.lines.first&.strip.inspect}"

      private

      def break_it(path)
        text = File.read(path)
        raise "#{path} has no #{@from}" unless text.include?(@from)
        File.write(path, text.sub(@from) { @to })
      end
    end
  end
end

if $PROGRAM_NAME == __FILE__
  chosen = GraphqlToday::Differential::MUTATIONS.select { |mutation| mutation.join(" ").include?(ENV.fetch("ONLY", "")) }
  missed = chosen.map { |mutation| GraphqlToday::Differential::Mutation.new(*mutation) }.reject do |mutation|
    noticed = mutation.call(schemas: Integer(ENV.fetch("SCHEMAS", "40")))
    puts "#{noticed ? "noticed" : "MISSED "} #{mutation}"
    $stdout.flush
    noticed
  end
  puts "#{chosen.size} mutations, #{missed.size} missed"
  exit(missed.empty?)
end
