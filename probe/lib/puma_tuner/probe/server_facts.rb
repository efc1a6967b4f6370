# frozen_string_literal: true

module PumaTuner
  module Probe
    # Tells what actually runs, read from inside the server.
    #
    # yjit_enabled: true, false, or nil where Ruby has no YJIT
    # thread_timeslice_ms: RUBY_THREAD_TIMESLICE, 100 unless set (Ruby 3.4 and newer read it)
    # puma_version: nil in a process of jobs; puma_features: see Probe::Puma; nil there, and in older files
    # rack_environment: RACK_ENV as Puma took it
    ServerFacts = Document.define(:ruby_version, :ruby_description, :yjit_enabled, :puma_version, :rack_version,
      :thread_timeslice_ms, :rack_environment, :puma_features, added: {puma_features: nil})
  end
end
