# frozen_string_literal: true

module PumaTuner
  # The server process under our control, and the machine it runs on. No opinions about either.
  module Host
    autoload :AppGemfile, "puma_tuner/host/app_gemfile"
    autoload :SignalQuery, "puma_tuner/host/signal_query"
    autoload :CacheFolder, "puma_tuner/host/cache_folder"
    autoload :Child, "puma_tuner/host/child"
    autoload :Command, "puma_tuner/host/command"
    autoload :MachineLoad, "puma_tuner/host/machine_load"
    autoload :Masking, "puma_tuner/host/masking"
    autoload :OtherServer, "puma_tuner/host/other_server"
    autoload :Placement, "puma_tuner/host/placement"
    autoload :Readings, "puma_tuner/host/readings"
    autoload :ScratchFolder, "puma_tuner/host/scratch_folder"
    autoload :ServerLog, "puma_tuner/host/server_log"
    autoload :Services, "puma_tuner/host/services"
    autoload :ServerProcess, "puma_tuner/host/server_process"
    autoload :Spent, "puma_tuner/host/readings"
    autoload :UnixPeers, "puma_tuner/host/unix_peers"
    autoload :UserEnvironment, "puma_tuner/host/user_environment"
    autoload :WhatRan, "puma_tuner/host/what_ran"
  end
end
