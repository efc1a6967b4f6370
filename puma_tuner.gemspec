# frozen_string_literal: true

require_relative "probe/lib/puma_tuner/version"

Gem::Specification.new do |spec|
  spec.name = "puma_tuner"
  spec.version = PumaTuner::VERSION
  spec.authors = ["The PumaTuner developers"]
  spec.summary = "Tells where a Puma app's time and memory go, what to change, what it will bring, and proves it."
  spec.description = "Measures a Ruby web app on Puma (CPU, IO, locks, GC, GVL wait), predicts throughput and latency for " \
    "other numbers of workers and threads, recommends a configuration, and proves it under load."
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.3"

  # No homepage, and no address of sources, changelog or issues, as long as there is no public repository to name:
  # `gem build` warns of the first, and CONTRIBUTING.md says when they come.
  spec.metadata = {"rubygems_mfa_required" => "true"}

  spec.files = Dir["lib/**/*.{rb,erb,css,html,js}", "sig/**/*.rbs", "ext/**/*.{c,h,rb}", "exe/*", "man/*.1", "docs/**/*.md", "docs/reference/schemas/*.json", "ops/**/*.{yml,json,sh}", "README.md", "CHANGELOG.md", "LICENSE.txt", "VOCABULARY.md"] - ["ops/prometheus/tests.yml"]
  spec.bindir = "exe"
  spec.executables = ["puma_tuner"]
  spec.extensions = ["ext/puma_tuner_load/extconf.rb", "ext/puma_tuner_sim/extconf.rb"]
  spec.require_paths = ["lib"]

  # What runs in the server, and needs no gem.
  spec.add_dependency "puma_tuner-probe", PumaTuner::VERSION

  # The command's; the serving process loads none of them.
  spec.add_dependency "csv", "~> 3.2"
end
