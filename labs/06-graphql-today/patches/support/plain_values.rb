# frozen_string_literal: true

module GraphqlToday
  # Shared by the cures: which values need none of the engine's special care.
  module PlainValues
    # Classes whose values the engine treats in a way of its own: as errors, to be skipped, or written as they are.
    SPECIAL = [NilClass, GraphQL::Error, Array, GraphQL::Execution::Interpreter::RawValue].freeze

    def initialize(query:)
      super
      @plain_classes = {}.compare_by_identity
    end

    # Plain is what is not late (by the schema's own rule), not nil, no error, no Array and no raw value. Told by class, and by the
    # class's ancestors, so it is the same for all its instances; an object that says it is of another class than it is has to say so
    # of a plain one to be taken for plain, and is a value of that class by its own word.
    #
    # @return [Boolean]
    def plain?(value)
      kind = value.class
      plain = @plain_classes[kind]
      return plain unless plain.nil?
      @plain_classes[kind] = kind.is_a?(Module) && SPECIAL.none? { |special| special === value || kind <= special } && !lazy?(value)
    end
  end
  GraphQL::Execution::Interpreter::Runtime.prepend(PlainValues)

  # Whether nobody listens to some hooks.
  module Silent
    FIELD_HOOKS = %i[begin_execute_field execute_field end_execute_field].freeze
    AUTHORIZED_HOOKS = %i[begin_authorized authorized end_authorized].freeze

    module_function

    # @param trace [GraphQL::Tracing::Trace]
    # @param hooks [Array<Symbol>]
    # @return [Boolean] each of them is the gem's own, which does nothing but yield
    def silent?(trace, hooks) = hooks.all? { |hook| trace.method(hook).owner.equal?(GraphQL::Tracing::Trace) }
  end
end
