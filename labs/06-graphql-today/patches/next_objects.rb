# frozen_string_literal: true

# Execution::Next. Wasted: for each object of a list, a call with seven parameters asks the runner whether lazies are resolved, whether the
# type is an object type and whether it authorizes (two hashes with default blocks); and the hash made for it is made to compare by
# identity, which builds a table, only to be replaced by an ordinary one in SelectionsStep#call: 186 instead of 64 ns.
#
# Cure: what holds for all objects of the field is asked once, and the hash is an ordinary one from the start.
#
# Safe because: a schema that resolves lazies, an abstract type, a type that authorizes, a finalizer, an error, nil and a directive's
# finalizers take the gem's way. Each of these hashes goes to a SelectionsStep, which replaces it before anybody reads it, and to
# static_type_at, which looks at identity.
module GraphqlToday
  module NextObjects
    private

    def build_graphql_result(graphql_result, key, field_result, return_type, is_nn, is_list, is_from_array) # standard:disable Metrics/ParameterLists
      return super if field_result.nil? || field_result.is_a?(GraphQL::Execution::Finalizer)
      return super unless @builds_freely.nil? ? learn_whether_free : @builds_freely
      return graphql_result[key] = next_result(field_result) unless is_list
      return super unless field_result.instance_of?(Array)
      inner_type = (is_nn ? return_type.of_type : return_type).of_type
      list = graphql_result[key] = []
      build_items(list, field_result, inner_type, inner_type.non_null?, inner_type.list?)
    end

    def build_items(list, items, type, non_null, nested)
      count = items.size
      index = -1
      while (index += 1) < count
        item = items[index]
        if nested || item.nil? || item.is_a?(GraphQL::Execution::Finalizer)
          build_graphql_result(list, index, item, type, non_null, nested, true)
        else
          list[index] = next_result(item)
        end
      end
    end

    # A place for the selections on that object.
    def next_result(object)
      result = {}
      @all_next_results << result
      @all_next_objects << object
      @runner.static_type_at[result] = @static_type
      result
    end

    def learn_whether_free
      @builds_freely = !@directive_finalizers && !@runner.resolves_lazies && @static_type.kind.object? &&
        !@runner.authorizes?(@static_type, @selections_step.query.context)
    end
  end
  GraphQL::Execution::FieldResolveStep.prepend(NextObjects)
end
