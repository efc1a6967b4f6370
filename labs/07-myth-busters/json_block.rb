# frozen_string_literal: true

# The same text read by json or by Oj, whichever the variant has.
require_relative "../support/gems"
LabGems.activate

rows = Array.new(200) { |id| %({"id":#{id},"title":"Article #{id}","tags":["ruby","puma"],"score":#{id / 7.0},"published":#{id.odd?}}) }
TEXT = "[#{rows.join(",")}]".freeze

if Gem.loaded_specs.key?("oj")
  require "oj"
  PARSE = -> { Oj.load(TEXT, mode: :compat) }
else
  require "json"
  PARSE = -> { JSON.parse(TEXT) }
end
abort("200 rows were to be read") unless PARSE.call.size == 200 && PARSE.call.last["title"] == "Article 199"

block("parse") { PARSE.call }
