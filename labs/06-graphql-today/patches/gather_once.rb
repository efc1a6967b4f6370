# frozen_string_literal: true

# Wasted: which fields a selection set comes to for a type (fragments spread, same keys merged) is worked out again for each object of
# an answer, although it depends on the selection set and the type only, unless there is a directive in it.
#
# Cure: a selection set without any directive, its fragments included, is gathered once per query and type.
#
# Safe because: what gathering gives is not changed afterwards (the engine only takes out what a directive put in); it is kept by
# the runtime of one query, by identity of the selection set; merged sets, which are built anew each time, are not kept.
require_relative "support/plain_values"

module GraphqlToday
  module GatherOnce
    def initialize(query:)
      super
      @gathered = {}.compare_by_identity
      @without_directives = {}.compare_by_identity
    end

    def each_gathered_selections(response_hash)
      selections = response_hash.graphql_selections
      return super unless kept?(selections, response_hash.ast_node) && without_directives?(selections)
      type = response_hash.graphql_result_type
      by_type = @gathered[selections] ||= {}.compare_by_identity
      fields, keys = by_type[type] ||= gather(response_hash, selections, type)
      yield(fields, false, keys)
    end

    private

    # Those of the query's own document live as long as it does; merged ones are made anew for each object, but for those of a step.
    def kept?(selections, node) = selections.frozen? || node.selections.equal?(selections)

    def gather(response_hash, selections, type)
      keys = []
      fields = gather_selections(response_hash, response_hash.graphql_application_value, type, selections, nil, {}, keys)
      keys.uniq!
      # Kept, too: what is known of them (in a step) may be kept as well.
      fields.each_value { |nodes| nodes.freeze if nodes.is_a?(Array) }
      [fields, keys]
    end

    def without_directives?(selections)
      known = @without_directives[selections]
      return known unless known.nil?
      @without_directives[selections] = selections.all? { |node| node.directives.empty? && without_directives_inside?(node) }
    end

    def without_directives_inside?(node)
      case node
      when GraphQL::Language::Nodes::Field then true
      when GraphQL::Language::Nodes::InlineFragment then without_directives?(node.selections)
      when GraphQL::Language::Nodes::FragmentSpread then without_directives?(query.fragments[node.name].selections)
      else false
      end
    end
  end
  GraphQL::Execution::Interpreter::Runtime.prepend(GatherOnce)
end
