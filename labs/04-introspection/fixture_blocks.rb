# frozen_string_literal: true

# The story's own benchmark, once per iteration.
require_relative "fixture"

Fixture.answer["errors"]&.then { |errors| abort("the query is not answered: #{errors}") }

block("fixture") { Fixture.answer }
