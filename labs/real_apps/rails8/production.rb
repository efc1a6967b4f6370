# Added by PumaTuner's set-up: plain http on this machine, to whoever asks, with the terminal left to Puma.
Rails.application.configure do
  config.assume_ssl = false
  config.force_ssl = false
  config.hosts.clear
  config.secret_key_base = "nothing here is secret " * 4
  # Rails' own level, info, and its own limit, as in development, so that the log does not fill the disk.
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new(Rails.root.join("log/production.log"), 1, 100.megabytes))
end
