# frozen_string_literal: true

# One query under ruby-prof: what was called how often, where the time went, and how the map's method was reached.
require_relative "setup"
require_relative "../support/call_counts"
require "json"

# The map that is asked; not the one without locks that it asks in turn.
MAP = /(?<!NonConcurrentMapBackend)#compute_if_absent\z/

WANTED = {
  "compute_if_absent" => MAP, "resolve_value" => /#resolve_value\z/, "after_lazy" => /#after_lazy\z/,
  "mutex locks" => /\A(?:Thread::)?Mutex#(?:synchronize|lock)\z/
}.freeze

query = Articles::QUERIES.fetch(ARGV.fetch(0))
3.times { Articles.answer(query) } # what is computed once is there
calls = CallCounts.of { Articles.answer(query) }

puts JSON.generate(counts: WANTED.transform_values { |pattern| calls.count(pattern) }, top: calls.top(12), total_s: calls.total_s, path: calls.path_to(MAP))
