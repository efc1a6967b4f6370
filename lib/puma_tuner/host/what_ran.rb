# frozen_string_literal: true

module PumaTuner
  module Host
    # The fingerprint of a server: what its processes tell of themselves, what
    # Puma has in effect, what files are behind it.
    module WhatRan
      module_function

      # @param server [ServerProcess] that serves
      # @param meter [SignalQuery]
      # @param facts [Hash{Array(Symbol, String) => String}] what is known of it besides, such as its files
      # @return [Hash{Array(Symbol, String) => String}] see Probe::Fingerprint; in the order of people's texts
      def of(server, meter, facts = {})
        told = meter.call("fingerprint", server.serving_pids).sort.map(&:last)
        {**(told.first || of_outside(server)), **disagreement(told), **of_puma(server), **facts}
          .sort_by { |key, _| Probe::Fingerprint.text(key) }.to_h
      end

      # @return [Hash{String => String}] versions of the gems that its processes have loaded, by name
      def gems(server, meter)
        meter.call("fingerprint", server.serving_pids).values.inject({}, :merge)
          .select { |(kind, _), _| kind == :gem }.transform_keys(&:last)
      end

      # Returns the facts of a process that can't be asked.
      def of_outside(server)
        pid = server.announcement.fetch("pid")
        {[:program, nil] => File.basename(File.readlink("/proc/#{pid}/exe"))}
      rescue SystemCallError
        {}
      end

      # Workers are forked from one process, and should be alike; where they are not, the numbers are of a mixture.
      def disagreement(told)
        keys = told.flat_map(&:keys).uniq.select { |key| told.map { |one| one[key] }.uniq.size > 1 }
        keys.reject { |key| %i[gem extension].include?(key.first) }
          .to_h { |key| [key, told.map { |one| one[key] || "-" }.uniq.join(" or ")] }
      end

      def of_puma(server)
        version = server.announcement.dig("server", "puma_version") or return {}
        options = server.announcement.fetch("options").transform_keys { |name| [:puma, name] }
        {[:puma, "version"] => version, [:puma, "topology"] => server.topology.to_s, **options}
      end
    end
  end
end
