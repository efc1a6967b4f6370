# frozen_string_literal: true

require_relative "lib/csp_collector"

run CspCollector::ReportApp.new(ENV.fetch("CSP_COLLECTOR_DATABASE", "csp_reports.sqlite3"))
