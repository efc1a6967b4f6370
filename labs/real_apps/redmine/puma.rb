# frozen_string_literal: true

# Everything else is Puma's own default, to be set by its command line or PUMA_MAX_THREADS and WEB_CONCURRENCY.
environment "production"
