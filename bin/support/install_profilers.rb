# frozen_string_literal: true

# Used by bin/setup --test: the profilers that the tests try, for this Ruby, where `puma_tuner profile --install` puts them.

require "puma_tuner"

PumaTuner::Probe::Profilers.all.each do |profiler|
  next if PumaTuner::Profile::Library.installed?(profiler)
  next unless Gem::Requirement.new(profiler::RUBY_REQUIREMENT).satisfied_by?(Gem.ruby_version)
  warn "      installing #{profiler::NAME} #{profiler::PINNED_VERSION}"
  PumaTuner::Profile::Library.install(profiler::NAME)
rescue PumaTuner::UsageError => error
  abort error.message
end
