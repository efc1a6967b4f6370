# frozen_string_literal: true

# Wasted: to write an enum's value, both engines compare it with one after another of the enum's visible values, through a block and a
# call of EnumValue#value each; introspection does it for the kind of each type: some 2,900 calls in its 1,098 look-ups.
#
# Cure: a hash of the enum's visible values, made once per query and enum.
#
# Safe because: it is used for String, Symbol and Integer values of enums that have only such values (or true, false, nil), for which a
# hash's equality is `==`, and the first of equal ones is kept, as find does. Unknown values, other kinds, and enums of
# which a value has an authorized? or a value of its own take the gem's way.
module GraphqlToday
  module EnumLookup
    ASKED = [String, Symbol, Integer].freeze
    LISTED = [*ASKED, TrueClass, FalseClass, NilClass].freeze

    # As the gem defines them: the value that was declared, and true.
    OWN = %i[value authorized?].freeze

    # On the context of a query.
    module Context
      # @return [Hash{Object => GraphQL::Schema::EnumValue}, false] false when its values can't be looked up by a hash
      def enum_values_by_value(enum)
        all = @enum_values_by_value ||= {}.compare_by_identity
        known = all[enum]
        known.nil? ? all[enum] = EnumLookup.by_value(types.enum_values(enum)) : known
      end
    end

    # @param enum_values [Array<GraphQL::Schema::EnumValue>]
    def self.by_value(enum_values)
      return false unless enum_values.all? { |one| LISTED.include?(one.value.class) && OWN.all? { |name| one.method(name).owner.equal?(GraphQL::Schema::EnumValue) } }
      enum_values.each_with_object({}) { |one, found| found[one.value] = one unless found.key?(one.value) }
    end

    def coerce_result(value, ctx)
      return super unless ASKED.include?(value.class) && ctx.is_a?(GraphQL::Query::Context) && !ctx.is_a?(GraphQL::Query::NullContext)
      found = ctx.enum_values_by_value(self)
      found &&= found[value]
      found ? found.graphql_name : super
    end
  end
  GraphQL::Query::Context.include(EnumLookup::Context)
  GraphQL::Schema::Enum.singleton_class.prepend(EnumLookup)
end
