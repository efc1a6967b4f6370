# frozen_string_literal: true

require_relative "lib/csp_collector"

threads_count = CspCollector.setting("CSP_COLLECTOR_THREADS", 3)
threads threads_count, threads_count

environment ENV.fetch("RACK_ENV", "production")

# Puma buffers a body before the app is asked, into a file if it must: so it has to know the limit, too.
http_content_length_limit CspCollector.setting("CSP_COLLECTOR_BODY_BYTES", 64 * 1024)
first_data_timeout CspCollector.setting("CSP_COLLECTOR_READING_LIMIT_S", 10)
persistent_timeout 20

# SIGTERM is how it is stopped, no error.
raise_exception_on_sigterm false

# No backtrace for whoever sends nonsense.
lowlevel_error_handler { |_error, _env, status| [status, {}, []] }

CspCollector::PumaGuard.install(CspCollector.journal, reading_limit_s: CspCollector.setting("CSP_COLLECTOR_READING_LIMIT_S", 10))
CspCollector.stay_with_parent if ENV["CSP_COLLECTOR_STAY"] == "stdin"
