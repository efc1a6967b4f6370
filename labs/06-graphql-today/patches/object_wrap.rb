# frozen_string_literal: true

# Wasted: for each object of an answer, Object.authorized_new tells the trace three times, builds two closures, asks the type's
# authorized? (which is the gem's own and gives true), asks the schema whether `true` is late, and passes it through Query#after_lazy,
# minimal_after_lazy and another look-up before it makes the wrapper.
#
# Cure: when the type's authorized? is the gem's own and nobody listens to the hooks of authorization, make the wrapper.
#
# Safe because: who overrides authorized?, authorized_new or wrap, or traces authorization, gets the gem's code. That is asked once per
# query and type, so that it may change between queries.
require_relative "support/plain_values"

module GraphqlToday
  module ObjectWrap
    # On a query: what its types and its trace are like.
    module Query
      # @return [Boolean] wrapping an object in that type needs nobody's leave
      def wraps_freely?(type)
        free = (@wraps_freely ||= {}.compare_by_identity)[type]
        return free unless free.nil?
        @wraps_freely[type] = type.method(:authorized?).owner.equal?(GraphQL::Schema::Member::HasAuthorization) &&
          Silent.silent?(current_trace, Silent::AUTHORIZED_HOOKS)
      end
    end

    def authorized_new(object, context)
      context.query.wraps_freely?(self) ? new(object, context) : super
    end
  end
  GraphQL::Query.prepend(ObjectWrap::Query)
  GraphQL::Query::Partial.prepend(ObjectWrap::Query)
  GraphQL::Schema::Object.singleton_class.prepend(ObjectWrap)
end
