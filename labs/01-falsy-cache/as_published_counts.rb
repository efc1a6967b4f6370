# frozen_string_literal: true

# The first query of the talk's own script under ruby-prof, as it profiles it itself.
require_relative "as_published"
require_relative "../support/call_counts"
require "json"

# As the talk's flat profile prints them.
PRINTED = {
  "resolve_value" => /#resolve_value\z/, "after_lazy" => /#after_lazy\z/, "compute_if_absent" => /(?<!NonConcurrentMapBackend)#compute_if_absent\z/,
  "_get" => /#_get\z/, "mutex locks" => /\A(?:Thread::)?Mutex#(?:synchronize|lock)\z/, "Hash#each" => /\AHash#each\z/
}.freeze

calls = CallCounts.of(&Benchmark.reports.fetch(ARGV.fetch(0)))

puts JSON.generate(counts: PRINTED.transform_values { |pattern| calls.count(pattern) }, top: calls.top(30))
