# frozen_string_literal: true

# Execution::Next. Wasted: it resolves a field for all objects at once, and then finishes each leaf on its own: finish_leaf_result and
# build_leaf_result ask, per value, whether the type is a list and who finalizes it, and pass the non-null wrapper, to reach coerce_result.
#
# Cure: what holds for the whole column of values is asked once; nil and finalizers, which errors are, take the gem's way.
#
# Safe because: the loop, its order and what raises in it are the gem's; a field whose results a directive looks at, and lists, are
# left to the gem.
module GraphqlToday
  module NextLeaves
    def build_results
      type = @field_definition.type
      leaf = type.non_null? ? type.of_type : type
      return super if @post_processors || @directive_finalizers || leaf.list? || leaf.kind.composite?
      finish_leaves(type, leaf, @selections_step.query.context)
    end

    private

    def finish_leaves(type, leaf, context)
      results = @results
      values = @field_results
      key = @key
      count = results.size
      index = -1
      while (index += 1) < count
        result = results[index]
        value = values[index]
        if value.nil? || value.is_a?(GraphQL::Execution::Finalizer)
          finish_leaf_result(result, key, value, type, context)
        else
          result[key] = leaf.coerce_result(value, context)
        end
      end
    end
  end
  GraphQL::Execution::FieldResolveStep.prepend(NextLeaves)
end
