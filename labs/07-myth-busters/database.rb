# frozen_string_literal: true

require_relative "../05-threads-against-io/database"
require_relative "packages"

module PumaTuner
  module Labs
    class MythBusters
      # The lab's MariaDB: that of the demo, in a folder and on a socket of its own, shared by all servers. It ends with this process,
      # however that ends.
      class Database
        LIMIT_S = 90
        TITLE = "demo database of #{Process.pid}".freeze

        # @yieldparam database [Database]
        def self.run
          Packages.ensure_installed(%w[mariadb-server-core mariadb-client-core])
          yield new(Demo::Companion.start("database", limit_s: LIMIT_S))
        rescue Demo::Companion::Failed => error
          raise UsageError, error.message
        ensure
          Demo::Companion.stop
        end

        # @return [String] path of its socket
        attr_reader :socket

        def initialize(socket)
          @socket = socket
        end

        # @return [Integer] that it has used so far
        def cpu_ns = pids.sum { |pid| Probe::Processes.cpu_ns(pid) || 0 }

        private

        def pids
          @pids ||= Probe::Processes.children_of(Process.pid).select { |pid| Probe::Processes.command_line(pid).start_with?(TITLE) }
            .flat_map { |pid| Probe::Processes.tree_of(pid) }
        end
      end
    end
  end
end
