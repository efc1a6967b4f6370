# frozen_string_literal: true

# Execution::Next. Wasted: a field that is a method of the objects is sent with keywords splatted from a hash, for each object, also when
# the field has no arguments.
#
# Cure: without arguments, without keywords.
#
# Safe because: an empty splat passes nothing; errors become the same values.
module GraphqlToday
  module NextSend
    private

    def resolve_batch(objects, context, args_hash)
      return super unless args_hash.empty? && @field_definition.execution_mode == :direct_send
      name = @field_definition.execution_mode_key
      objects.map do |object|
        object.public_send(name)
      rescue GraphQL::ExecutionError => error
        error
      rescue => error
        begin
          @selections_step.query.handle_or_reraise(error, object:, field: @field_definition, arguments: args_hash)
        rescue GraphQL::ExecutionError => instead
          instead
        end
      end
    end
  end
  GraphQL::Execution::FieldResolveStep.prepend(NextSend)
end
