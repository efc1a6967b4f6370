# frozen_string_literal: true

# Wasted: each item of a list goes through call_method_on_directives and after_lazy (eight keywords, two blocks), even when its field
# has no directive and the item is neither late nor an error nor nil.
#
# Cure: a plain item of a field without directives goes straight on to continue_field.
#
# Safe because: it is what the gem's blocks come to for such a value; everything else goes to the gem's method.
require_relative "support/plain_values"

module GraphqlToday
  module ListItems
    def resolve_list_item(inner_value, inner_type, inner_type_non_null, ast_node, field, owner_object, arguments, this_idx, response_list, owner_type, was_scoped, runtime_state) # standard:disable Metrics/ParameterLists
      return super unless ast_node.directives.empty? && plain?(inner_value)
      runtime_state ||= get_current_runtime_state
      runtime_state.current_result_name = this_idx
      runtime_state.current_result = response_list
      continue_field(inner_value, owner_type, field, inner_type, ast_node, response_list.graphql_selections, false, owner_object, arguments, this_idx, response_list, was_scoped, runtime_state)
    end
  end
  GraphQL::Execution::Interpreter::Runtime.prepend(ListItems)
end
