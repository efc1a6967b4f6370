# frozen_string_literal: true

# Both queries, given as text, answered once per iteration.
require_relative "setup"

Shelf::QUERIES.each do |name, query|
  errors = Shelf.answer(query)["errors"]
  abort("the query #{name} is not answered: #{errors}") if errors
  block(name) { Shelf.answer(query) }
end
