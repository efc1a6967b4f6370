# frozen_string_literal: true

# One answer of the story's own benchmark under ruby-prof, the objects that one makes without it, and what is asked again for
# what it was asked before.
require_relative "fixture"
require_relative "../support/call_counts"
require_relative "../../probe/lib/puma_tuner/probe/profiling/inputs"
require "json"

# As the story's profiles print them.
PRINTED = {
  "FieldResult#initialize" => /FieldResult#initialize\z/, "FieldResolutionContext#initialize" => /FieldResolutionContext#initialize\z/,
  "MiddlewareChain#initialize" => /MiddlewareChain#initialize\z/, "MiddlewareChain#call" => /MiddlewareChain#call\z/,
  "MiddlewareChain#invoke_core" => /MiddlewareChain#invoke_core\z/, "ensure_defined" => /#ensure_defined\z/, "Array#shift" => /\AArray#shift\z/,
  "Warden#visible?" => /Warden#visible\?\z/, "Module#===" => /\A(?:Module|Class)#===\z/, "Kernel#===" => /\AKernel#===\z/,
  "Kernel#is_a?" => /\AKernel#is_a\?\z/, "Class#new" => /\AClass#new\z/
}.freeze

3.times { Fixture.answer["errors"]&.then { |errors| abort("the query is not answered: #{errors}") } } # what is computed once is there
calls = CallCounts.of { Fixture.answer }

GC.disable
before_count = GC.stat(:total_allocated_objects)
answer = Fixture.answer
objects_count = GC.stat(:total_allocated_objects) - before_count

inputs = PumaTuner::Probe::Profiling::Inputs.new
inputs.start
Fixture.answer
inputs.stop
repeated = inputs.rows.to_h { |path, line, count| [[path, line], count] }
REPEATED = {"Warden#visible?" => [GraphQL::Schema::Warden, :visible?], "Warden#enum_values" => [GraphQL::Schema::Warden, :enum_values],
            "Schema#lazy?" => [GraphQL::Schema, :lazy?]}.select { |_, (type, name)| type.method_defined?(name) || type.private_method_defined?(name) }
  .transform_values { |type, name| repeated[type.instance_method(name).source_location] }

puts JSON.generate(counts: PRINTED.transform_values { |pattern| calls.count(pattern) }, total: calls.total, objects: objects_count, repeated: REPEATED,
  fields: Fixture.fields_count(answer.fetch("data")), version: Gem.loaded_specs.fetch("graphql").version.to_s)
