# frozen_string_literal: true

# Both queries, given as text, answered once per iteration.
require_relative "setup"

Articles::QUERIES.each do |name, query|
  errors = Articles.answer(query)["errors"]
  abort("the query #{name} is not answered: #{errors}") if errors
  block(name) { Articles.answer(query) }
end
