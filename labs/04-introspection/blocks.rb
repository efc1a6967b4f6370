# frozen_string_literal: true

# The introspection query, given as text, answered once per iteration; validation included.
require_relative "setup"

errors = Shop.answer["errors"]
abort("the query is not answered: #{errors}") if errors
block("introspection") { Shop.answer }
