# frozen_string_literal: true

module Validation
  # What runs beside a server for it: a database and the proxy before it, which its `serve` has started (labs/real_apps/redmine_pg/serve) and named in
  # the server's folder. Its CPU is neither the server's nor a stranger's.
  module Beside
    FILE = "beside"

    # @param server [PumaTuner::Host::ServerProcess]
    # @return [Integer] CPU time so far, of all its processes; 0 where there is nothing
    def self.cpu_ns(server)
      path = File.join(server.directory, FILE)
      return 0 unless File.file?(path)
      PumaTuner::Probe::Processes.tree_of(Integer(File.read(path))).sum { |pid| PumaTuner::Probe::Processes.cpu_ns(pid) || 0 }
    end
  end
end
