# frozen_string_literal: true

require "open3"
require "support/served_app"

# A script that watches itself, in a process of its own: without Puma, with the gems it names.
module WatchedScript
  LIBRARIES = "#{ServedApp::PROJECT}/gemfiles/libraries.gemfile"
  CLIENTS = "#{ServedApp::PROJECT}/gemfiles/clients.gemfile"

  module_function

  # @param script [String] Ruby
  # @param gemfile [String, nil] nil: without any gem, and without RubyGems, whose locks would be among those that are watched
  # @return [PumaTuner::Probe::Observation] the snapshot that it takes at its end
  def snapshot(script, gemfile: nil)
    out, errors, status = Open3.capture3(environment(gemfile), RbConfig.ruby, gemfile ? "-rbundler/setup" : "--disable-gems", "-rpuma_tuner/probe",
      "-e", "#{script}\nprint PumaTuner::Document.dump(PumaTuner.snapshot)", unsetenv_others: true)
    raise "the script failed:\n#{errors}\n#{out}" unless status.success?
    PumaTuner::Document.parse(out, "snapshot", [:observation])
  end

  def environment(gemfile)
    {**ENV.to_h, **ServedApp::BASE_ENVIRONMENT, "RUBYLIB" => File.join(ServedApp::PROJECT, "probe/lib"), "BUNDLE_GEMFILE" => gemfile}.compact
  end
end
