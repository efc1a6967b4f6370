# Added by PumaTuner's set-up: plain http on this machine, to whoever asks, with the terminal left to Puma.
Rails.application.configure do
  config.assume_ssl = false
  config.force_ssl = false
  config.hosts.clear
  config.secret_key_base = "nothing here is secret " * 4
  config.log_level = :warn
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new(Rails.root.join("log/production.log")))
  # Not the default file store, whose entries would outlive the server and make the next trial's work less.
  config.cache_store = :memory_store
  # The sample data completes orders, which sends mail.
  config.action_mailer.perform_deliveries = false
end
