# frozen_string_literal: true

require_relative "features"

module GraphqlToday
  module Differential
    # Puts types together to a schema with the features of its flavour.
    class SchemaMaker
      # @param flavour [Flavour]
      # @param types [Hash{String => Class}]
      def initialize(flavour, types)
        @flavour = flavour
        @types = types
      end

      # @return [Class<GraphQL::Schema>]
      def call
        schema = Class.new(GraphQL::Schema)
        schema.use(GraphQL::Execution::Next) if @flavour.next?
        schema.query(@types.fetch("Query"))
        schema.mutation(@types.fetch("Mutation"))
        schema.orphan_types(*@types.values_at("T0", "T1", "T2", "T3"))
        add_errors(schema)
        add_hooks(schema)
        add_plugins(schema)
        add_traces(schema)
        @flavour.subclass ? subclass(schema) : schema
      end

      private

      # What is not overridden in the subclass has to be found in its parent.
      def subclass(parent)
        Class.new(parent) { rescue_from(KeyError) { |error| raise GraphQL::ExecutionError, error.message } }
      end

      def add_errors(schema)
        schema.rescue_from(RescuedError) { |error, _object, _arguments, _context, field| raise GraphQL::ExecutionError, "#{error.message} at #{field&.path}" }
        schema.rescue_from(ReplacedError) { |_error, _object, _arguments, _context, field| (field && field.type.unwrap.graphql_name == "String" && !field.type.list?) ? "replaced" : nil }
        schema.lazy_resolve(Later, :value) if @flavour.late_hooks?
      end

      def add_hooks(schema)
        types = @types
        schema.define_singleton_method(:resolve_type) do |_abstract, object, _context|
          next types["T3"] if object.respond_to?(:number) && object.number.to_i % 97 == 4 # not a member of each
          kind = object.respond_to?(:number) ? types["T#{object.number.to_i % 2}"] : types["T0"]
          (object.respond_to?(:number) && object.number.to_i % 19 == 6) ? [kind, object.class.new("T0", 5)] : kind
        end
        add_type_error_handler(schema) if @flavour.handles_type_errors
        return unless @flavour.type_hooks
        schema.define_singleton_method(:unauthorized_field) { |error| raise GraphQL::ExecutionError, "no field #{error.field&.path}" }
        schema.define_singleton_method(:unauthorized_object) do |error|
          raise GraphQL::ExecutionError, "hidden" if error.message.include?("this one")
          (error.object.respond_to?(:number) && error.object.number.to_i.even?) ? error.object.class.new("T0", 2) : nil
        end
      end

      def add_type_error_handler(schema)
        schema.define_singleton_method(:type_error) do |error, context|
          Features.note(context, "type error", error.class.name.to_s[/\w+\z/], error.message)
          context.errors << GraphQL::ExecutionError.new("of a type: #{error.class.name.to_s[/\w+\z/]}") unless error.is_a?(GraphQL::InvalidNullError)
        end
      end

      def add_plugins(schema)
        schema.use(GraphQL::Dataloader) if @flavour.dataloader
        schema.use(GraphQL::Backtrace) if @flavour.backtrace
        schema.use(GraphQL::Schema::Timeout, max_seconds: 600) if @flavour.timeout
        schema.use(GraphQL::Schema::Visibility, dynamic: true) if @flavour.visibility == :dynamic
        schema.directive(Features::Shout) if @flavour.runtime_directive
        schema.query_analyzer(Features::Counting) if @flavour.analyzers
        schema.max_depth(20)
        schema.complexity_cost_calculation_mode(:future)
        schema.max_complexity(5_000)
      end

      def add_traces(schema)
        case @flavour.tracing
        when :empty then schema.trace_with(Features::EmptyTrace)
        when :fields then schema.trace_with(Features::FieldTrace)
        when :all then schema.trace_with(Features::AllTrace)
        when :legacy then schema.tracer(Features::LegacyTracer)
        end
      end
    end
  end
end
