# frozen_string_literal: true

module PumaTuner
  module Host
    # Decides which core the load generator has to itself, and which are left for the servers.
    #
    # generator_core: Integer, nil when nothing is bound; server_cores: numbers of all that servers may use
    Placement = Data.define(:generator_core, :server_cores) do
      # On a machine with fewer cores, one taken from the server changes what is measured more than a generator that
      # moves about. (This is a judgement: of four cores a server keeps three quarters.)
      def self.cores_wanted = 4

      # @return [Placement] that binds nothing
      def self.none(cores: Probe::Processes.allowed_cores) = new(generator_core: nil, server_cores: cores)

      # @param core [Integer, nil] the generator's; nil: the last, where there are enough
      # @param cores [Array<Integer>] to share out
      # @raise [UsageError] when there is no such core, or none would be left
      def self.of(core = nil, cores: Probe::Processes.allowed_cores)
        return none(cores:) if core.nil? && (cores.size < cores_wanted || !taskset)
        core ||= cores.last
        unless cores.include?(core)
          raise UsageError, "core #{core} is not available: this process may use " \
            "#{cores.join(", ")}"
        end
        raise UsageError, "core #{core} is the only one available, and the servers need another" if cores.one?
        unless taskset
          raise UsageError, "`taskset`, of util-linux, is needed to keep servers off core #{core}; install it"
        end
        new(generator_core: core, server_cores: cores - [core])
      end

      # @return [String, nil] path of the program that binds processes to cores
      def self.taskset
        ENV.fetch("PATH", "").split(":").map { |folder| File.join(folder, "taskset") }
          .find { |path| File.executable?(path) }
      end

      # Short options, as BusyBox' taskset, which Alpine has, knows no others.
      #
      # @param cores [Array<Integer>]
      # @return [Array<String>] words before a command that bind it to them
      def self.bound(cores) = ["taskset", "-c", cores.join(",")]

      # @return [Boolean] whether a process of ours may be bound to the core
      def self.binds?(core) = !taskset.nil? && system(*bound([core]), "true", %i[out err] => File::NULL) == true

      # @param command [Command]
      # @return [Command] the same, kept off the generator's core
      def keep_off(command)
        if generator_core
          command.with(words: [*self.class.bound(server_cores), *command.words])
        else
          command
        end
      end
    end
  end
end
