# Added by PumaTuner's set-up: Redmine's own file for settings of this kind.

# Redmine's own level, info, and a limit, so that the log does not fill the disk.
config.logger = ActiveSupport::Logger.new(Rails.root.join("log/production.log"), 1, 100 * 1024 * 1024)
config.logger.level = Logger::INFO
# Fixed, so that the session cookie in requests.txt is valid wherever this is set up.
config.secret_key_base = "nothing here is secret " * 4
