# frozen_string_literal: true

require_relative "as_published"

Benchmark.reports.each { |name, body| block(name, &body) }
