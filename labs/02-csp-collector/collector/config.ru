# frozen_string_literal: true

require_relative "lib/csp_collector"

# A limit on the size of files (ulimit -f) is then an error, as a full disk is, and not the end.
trap("XFSZ", "IGNORE")

limits = CspCollector::Intake::Limits.new(body_bytes: CspCollector.setting("CSP_COLLECTOR_BODY_BYTES", 64 * 1024))

run CspCollector::App.new(
  output: CspCollector::Output.new($stdout, waiting_count: CspCollector.setting("CSP_COLLECTOR_WAITING", 16)),
  journal: CspCollector.journal,
  intake: CspCollector::Intake.new(limits),
  with_user_agent: ENV["CSP_COLLECTOR_USER_AGENT"] == "1"
)
