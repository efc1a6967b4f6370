# frozen_string_literal: true

# Wasted: for each field of each object, evaluate_selection looks up the field's definition, the fiber's state (a call into C and two
# hashes), whether there are arguments and extras; evaluate_selection_with_resolved_keyword_args reads selections and directives off
# the node, sets the state again, passes call_method_on_directives, three hooks of a trace that nobody overrides (one with five
# keywords and a block), after_lazy (eight keywords and a block), continue_value (four comparisons with classes) and continue_field
# (thirteen parameters). All of that but the value is the same for each object.
#
# Cure: what is the same is worked out once per query, type and node, as a step. A step of a field without arguments, extras and
# directives resolves and, when the value is plain, writes a leaf itself or goes on to continue_field.
#
# Safe because: steps are made only when nobody listens to the field hooks; directives, arguments, extras, introspection's dynamic
# fields, values that are late, nil where there may be none, errors, lists of errors and raw values take the gem's way.
# The state that `context[:current_path]` and its like are read from is set before the resolver is called, as the gem does, so errors
# have the same paths. Steps are kept by the runtime of one query, and never shared between threads.
require_relative "support/plain_values"

module GraphqlToday
  module FieldStep
    NO_ARGUMENTS = GraphQL::Execution::Interpreter::Arguments::EMPTY
    NO_KEYWORDS = GraphQL::Execution::Interpreter::Runtime::NO_ARGS
    HALT = GraphQL::Execution::Interpreter::Runtime::HALT
    LEAVES = %w[SCALAR ENUM].freeze

    # A field of a selection set, for one type: all that does not depend on the object.
    class Step
      attr_reader :node, :field, :selections, :type, :leaf, :non_null

      # @param nodes [GraphQL::Language::Nodes::Field, Array] where the query selects it
      # @param field [GraphQL::Schema::Field]
      def initialize(nodes, field)
        @node = nodes.is_a?(Array) ? nodes.first : nodes
        @selections = nodes.is_a?(Array) ? nodes.flat_map(&:selections).freeze : nodes.selections
        @field = field
        @type = field.type
        @non_null = @type.non_null?
        nullable = @non_null ? @type.of_type : @type
        @leaf = LEAVES.include?(nullable.kind.name) ? nullable : nil
      end
    end

    def initialize(query:)
      super
      @steps = (Silent.silent?(@current_trace, Silent::FIELD_HOOKS) && !lazy?(nil)) ? {}.compare_by_identity : nil
    end

    def evaluate_selection(result_name, nodes, selections_result)
      step = @steps && step_for(selections_result.graphql_result_type, nodes) or return super
      return if selections_result.graphql_dead
      state = get_current_runtime_state
      state.current_field = step.field
      state.current_arguments = NO_ARGUMENTS
      state.current_result_name = result_name
      state.current_result = selections_result
      object = selections_result.graphql_application_value
      continue_step(step, resolve_step(step.field, object), object, result_name, selections_result, state)
    end

    private

    # @return [Step, nil, false] nothing when it has to be the gem's way, as with several nodes that were gathered for this object only
    def step_for(type, nodes)
      return if nodes.is_a?(Array) && !nodes.frozen?
      steps = @steps[type] ||= {}.compare_by_identity
      step = steps[nodes]
      step.nil? ? steps[nodes] = make_step(type, nodes) : step
    end

    def make_step(type, nodes)
      all = Array(nodes)
      return false if all.any? { |node| !node.directives.empty? }
      field = query.types.field(type, all.first.name)
      return false if !field || field.any_arguments? || !field.extras.empty? || field.dynamic_introspection
      Step.new(nodes, field)
    end

    def resolve_step(field, object)
      field.resolve(object, NO_KEYWORDS, @context)
    rescue GraphQL::ExecutionError => error
      error
    rescue => error
      begin
        query.handle_or_reraise(error)
      rescue GraphQL::ExecutionError => instead
        instead
      end
    end

    def continue_step(step, value, object, name, result, state)
      unless plain?(value) || (value.nil? ? !step.non_null : no_errors?(value))
        return after_lazy(value, field: step.field, owner_object: object, arguments: NO_ARGUMENTS, ast_node: step.node, result_name: name, result:, runtime_state: state) do |later, later_state|
          continue_specially(step, later, object, name, result, later_state)
        end
      end
      return if result.collect_result(name, value)
      return set_result(result, name, nil, false, false) if value.nil?
      scoped = state.was_authorized_by_scope_items
      state.was_authorized_by_scope_items = nil
      return write_leaf(step, value, name, result) if step.leaf
      continue_field(value, result.graphql_result_type, step.field, step.type, step.node, step.selections, false, object, NO_ARGUMENTS, name, result, scoped, state)
    end

    # A list that can't be one of errors only, and is not late: most lists.
    def no_errors?(value) = value.instance_of?(Array) && !value.first.is_a?(GraphQL::ExecutionError) && !lazy?(value)

    # The gem's way, for what is not plain.
    def continue_specially(step, value, object, name, result, state)
      return if result.collect_result(name, value)
      value = continue_value(value, step.field, step.non_null, step.node, name, result)
      return if HALT.equal?(value)
      scoped = state.was_authorized_by_scope_items
      state.was_authorized_by_scope_items = nil
      continue_field(value, result.graphql_result_type, step.field, step.type, step.node, step.selections, false, object, NO_ARGUMENTS, name, result, scoped, state)
    end

    def write_leaf(step, value, name, result)
      begin
        written = step.leaf.coerce_result(value, @context)
      rescue GraphQL::ExecutionError => error
        return continue_value(error, step.field, step.non_null, step.node, name, result)
      rescue => error
        begin
          written = query.handle_or_reraise(error)
        rescue GraphQL::ExecutionError => instead
          return continue_value(instead, step.field, step.non_null, step.node, name, result)
        end
      end
      return set_result(result, name, nil, false, step.non_null) if written.nil?
      result.set_leaf(name, written) unless result.graphql_dead
    end
  end
  GraphQL::Execution::Interpreter::Runtime.prepend(FieldStep)
end
