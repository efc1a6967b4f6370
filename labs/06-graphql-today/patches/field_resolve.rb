# frozen_string_literal: true

# Wasted: Field#resolve asks authorized?, hands its answer to Query#after_lazy (in case it is late), which finds the runtime and hands
# it to minimal_after_lazy, which looks up whether `true` is lazy; then with_extensions yields to a block in which the resolver method
# is looked for. Five frames and three blocks per field, to learn that nobody asked for authorization and there are no extensions.
#
# Cure: when a field has no validators, no resolver class, no hash key, no extensions and was given no arguments, and authorized? is
# the gem's own (which for such a field gives true), go straight to the method or the hash's key.
#
# Safe because: each condition is that of the gem's own branch; who overrides authorized? (a field class, one field, a module
# prepended to either) is asked as before; what is missing is left to the gem's code before anything was called; errors become the
# same values. `true` is late in no schema; should one say so, it would have to be for all of Object.
require_relative "support/plain_values"

module GraphqlToday
  module FieldResolve
    OWN = %i[authorized? with_extensions].freeze
    NOT_CONFIGURED = GraphQL.const_get(:NOT_CONFIGURED) # private

    def resolve(object, args, query_ctx)
      return super unless args.empty? && @extensions.empty? && (@resolves_plainly.nil? ? learn_whether_plain : @resolves_plainly)
      return send_plainly(object, @resolver_method, query_ctx.schema) if object.respond_to?(@resolver_method)
      inner = object.object
      return super if inner.is_a?(Hash) || !inner.respond_to?(@method_sym)
      send_plainly(inner, @method_sym, query_ctx.schema)
    end

    private

    # On its own, as what the gem's own code raises has been through the same rescues already.
    def send_plainly(receiver, name, schema)
      receiver.public_send(name)
    rescue GraphQL::UnauthorizedError => error
      in_place_of_unauthorized(error, schema)
    rescue ArgumentError
      # Tells a developer which arguments don't match.
      assert_satisfactory_implementation(receiver, name, {})
      raise
    rescue GraphQL::ExecutionError => error
      error
    end

    # What the schema puts in the place of what may not be seen.
    def in_place_of_unauthorized(error, schema)
      return schema.unauthorized_object(error) unless error.is_a?(GraphQL::UnauthorizedFieldError)
      error.field ||= self
      schema.unauthorized_field(error)
    rescue GraphQL::ExecutionError => instead
      instead
    end

    # Asked once per field. A frozen one, as in a schema shared by Ractors, is asked each time.
    def learn_whether_plain
      plain = !@own_validators && !@resolver_class && NOT_CONFIGURED.equal?(@hash_key) && !@dig_keys &&
        OWN.all? { |name| method(name).owner.equal?(GraphQL::Schema::Field) }
      @resolves_plainly = plain unless frozen?
      plain
    end
  end
  GraphQL::Schema::Field.prepend(FieldResolve)
end
