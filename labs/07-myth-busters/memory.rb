# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # What a server's processes take, as if they were alone on the machine. Pure, but for the reading.
      #
      # PSS would divide the pages of Ruby's library among all servers that are up for a comparison. Anonymous pages are shared by a master and its workers
      # only, so these are told by PSS; of mapped files, the process that has most of them stands for all, as they map the same ones.
      module Memory
        module_function

        # @param pids [Array<Integer>] of one server
        # @return [Integer, nil] bytes; nil when one has gone
        def of(pids) = of_rollups(pids.map { |pid| Probe::Processes.read("/proc/#{pid}/smaps_rollup") })

        # @param rollups [Array<String>] /proc/PID/smaps_rollup
        # @return [Integer, nil] bytes
        def of_rollups(rollups)
          parts = rollups.map { |text| [kib(text, "Pss_Anon"), kib(text, "Rss"), kib(text, "Anonymous")] }
          return if parts.empty? || parts.flatten.include?(nil)
          (parts.sum(&:first) + parts.map { |_, rss, anonymous| rss - anonymous }.max) * 1024
        end

        def kib(text, name) = text[/^#{name}:\s*(\d+) kB/, 1]&.to_i
      end
    end
  end
end
