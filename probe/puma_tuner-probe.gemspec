# frozen_string_literal: true

require_relative "lib/puma_tuner/version"

Gem::Specification.new do |spec|
  spec.name = "puma_tuner-probe"
  spec.version = PumaTuner::VERSION
  spec.authors = ["The PumaTuner developers"]
  spec.summary = "Tells where a Puma server's time goes, from inside it, and never reaches the app."
  spec.description = "The part of puma_tuner that runs in the server: it records where each request's wall time goes (CPU, wait for the GVL, IO, " \
    "locks, GC, Puma's queue) into shared memory, prints it, and exports it to Prometheus and OpenTelemetry."
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.3"
  spec.metadata = {"rubygems_mfa_required" => "true"} # for the addresses see ../puma_tuner.gemspec

  spec.files = Dir["lib/**/*.rb", "sig/**/*.rbs", "ext/**/*.{c,h,rb}", "README.md", "LICENSE.txt"]
  spec.extensions = ["ext/puma_tuner_probe/extconf.rb"]
  spec.require_paths = ["lib"]
  # It depends on no gem: the server's own Puma and Rack are all that it touches.
end
