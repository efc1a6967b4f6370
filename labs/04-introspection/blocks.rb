# frozen_string_literal: true

# The introspection query, answered once per iteration, validation included.
require_relative "setup"

[Shop.answer, Shop.answer_text].each { |answer| abort("the query is not answered: #{answer["errors"]}") if answer["errors"] }

block("document") { Shop.answer }
block("text") { Shop.answer_text }
