# frozen_string_literal: true

# Makes the recordings that recorded_apps_test.rb reads anew:
#   bin/exec ruby -Ilib -Iprobe/lib -Itest test/advise/record.rb [NAME …]

require "puma_tuner"
require "advise/apps"

FOLDER = File.expand_path("../fixtures/advise", __dir__)
TRACES_COUNT = 40
WARMUP_S = 1.5
DURATION_S = 2

# As much of an observation as rules look at.
def shortened(observation)
  endpoints = observation.endpoints.map { |endpoint| endpoint.with(traces: endpoint.traces.first(TRACES_COUNT), distributions: []) }
  fingerprint = observation.fingerprint.reject { |(kind, name), _| kind == :env && !name.match?(/\A(RUBY|MALLOC|WEB_CONCURRENCY|RACK_ENV)/) }
  observation.with(endpoints:, fingerprint:, command: "puma", threads: observation.threads.first(12))
end

(ARGV.empty? ? AdvisedApps::ALL.keys : ARGV).each do |name|
  described = AdvisedApps::ALL.fetch(name)
  ServedApp.open(rackup: described.rackup, puma_rb: described.puma_rb) do |app|
    command = PumaTuner::Host::Command.new(words: %w[bundle exec puma], directory: app.folder,
      environment: app.environment(gemfile: described.gemfile).merge(described.environment))
    reuse = described.reuse&.split(":")&.map(&:to_i)&.then { |least, most| least..most }
    traffic = PumaTuner::Load::Traffic.new(mix: PumaTuner::Load::Mix.of_paths(described.paths), generator: PumaTuner::Load::Native.new,
      connections_count: described.connections_count, seed: 1, arrivals: PumaTuner::Load::Arrivals.closed(reuse:, think_ns: described.think_ms * PumaTuner::Units::NS_PER_MS))
    times = PumaTuner::Measure::LoadedWindow::Times.new(warmup_s: WARMUP_S, warmup_limit_s: 2 * WARMUP_S, duration_s: DURATION_S)
    observation = PumaTuner::Measure::LoadedWindow.new(command:, traffic:, boot_limit_s: 60, times:, topology: PumaTuner::Topology.parse(described.topology)).call
    path = File.join(FOLDER, "#{name}.json")
    PumaTuner::Document.write(shortened(observation), path)
    puts "#{name}: #{observation.requests_count} requests, #{File.size(path) / 1024} KiB"
  end
end
