# frozen_string_literal: true

module PumaTuner
  # The server process under our control, and the machine it runs on. No opinions about either.
  module Host
    autoload :CacheFolder, "puma_tuner/host/cache_folder"
    autoload :Command, "puma_tuner/host/command"
    autoload :Extension, "puma_tuner/host/extension"
    autoload :Fingerprint, "puma_tuner/host/fingerprint"
    autoload :Gauges, "puma_tuner/host/gauges"
    autoload :Launch, "puma_tuner/host/launch"
    autoload :LockedFile, "puma_tuner/host/locked_file"
    autoload :MachineFacts, "puma_tuner/host/machine_facts"
    autoload :MachineLoad, "puma_tuner/host/machine_load"
    autoload :Meter, "puma_tuner/host/meter"
    autoload :OtherServer, "puma_tuner/host/other_server"
    autoload :Placement, "puma_tuner/host/placement"
    autoload :Processes, "puma_tuner/host/processes"
    autoload :PumaFeatures, "puma_tuner/host/puma_features"
    autoload :Readings, "puma_tuner/host/readings"
    autoload :ScratchFolder, "puma_tuner/host/scratch_folder"
    autoload :ServerFacts, "puma_tuner/host/server_facts"
    autoload :ServerLog, "puma_tuner/host/server_log"
    autoload :ServerProcess, "puma_tuner/host/server_process"
    autoload :Spent, "puma_tuner/host/readings"
    autoload :UserEnvironment, "puma_tuner/host/user_environment"
    autoload :YjitLimit, "puma_tuner/host/yjit_limit"
    autoload :YjitOff, "puma_tuner/host/yjit_off"
  end
end
