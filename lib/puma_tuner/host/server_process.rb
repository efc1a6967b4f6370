# frozen_string_literal: true

module PumaTuner
  module Host
    # One run of the user's command, as a child of ours in a process group of its own: started, waited for, stopped, and
    # nothing left behind.
    class ServerProcess
      BOOT_LIMIT_S = 60
      # After so long without a word of it, what it prints is shown, and what may be wrong is said.
      SILENCE_S = 10
      # Next to nothing is in flight when we stop a server, unless the traffic is the user's own.
      STOP_LIMIT_S = 5

      # @return [Hash] what the server announced of itself, see Launch
      attr_reader :announcement

      # @return [String] folder for this run's sockets and files, gone after stop
      attr_reader :directory

      # @return [Integer] nanoseconds from its start until it served
      attr_reader :boot_ns

      # Runs the block with a server that serves, and stops it whatever happens.
      # @yieldparam server [ServerProcess]
      def self.run(...)
        server = new(...)
        server.start
        yield server
      ensure
        server&.stop
      end

      # Tells once that a server is killed, as most that come after it would be told of, too. Where something else ended
      # its run, such as Ctrl-C, that is told, and this is not.
      #
      # @api private
      # @return [void]
      def self.tell_killed
        return if $!
        @killed_told ||= Kernel.warn("puma_tuner: the server's command had not ended #{STOP_LIMIT_S} s after " \
          "SIGTERM, and is killed: requests that take longer, and what it does at its end, may be cut short") || true
      end

      # @param command [Command] what to start, where and with which environment
      # @param topology [Topology, nil] nil: the command's own
      # @param bind [String, nil] where to listen; nil: the command's own
      # @param measure [Boolean] whether to load the probe
      # @param locks [Boolean] whether the probe watches locks and pools
      # @param meter [Boolean] whether its processes can be asked, see Probe::SignalQueries
      # @param puma_options [Hash{String => String}] over the user's own, see Launch
      # @param silence_s [Numeric] see SILENCE_S
      # @param boot_advice [String, nil] what else to do where it does not come up
      # @param echo [IO, nil] where the server's output goes besides the log
      def initialize(command, topology: nil, bind: "tcp://127.0.0.1:0", measure: false, locks: false, meter: false,
        puma_options: {}, boot_limit_s: BOOT_LIMIT_S, silence_s: SILENCE_S, boot_advice: nil, echo: nil)
        @command = command
        @meter = meter
        @puma_options = puma_options
        @topology = topology
        @bind = bind
        @measure = measure
        @locks = locks
        @boot_limit_s = boot_limit_s
        @silence_s = silence_s
        @boot_advice = boot_advice
        @echo = echo
      end

      # @raise [ServerFailed] when it does not come up
      def start
        @directory = ScratchFolder.make
        @log = ServerLog.new(File.join(@directory, "server.log"), echo: @echo)
        began_ns = Clock.now_ns
        @child = Child.new(environment, *words, chdir: @command.directory, in: File::NULL, out: @log.writer,
          err: @log.writer, unsetenv_others: true)
        @child.start
        @guard = Guard.new(@child.pid, @directory)
        @guard.start
        @log.writer.close
        wait_until_it_serves
        @boot_ns = Clock.now_ns - began_ns
        @log.release
      rescue Errno::ENOSPC => error
        raise ServerFailed.new("#{@command} was not started: #{error.message}", advice: no_space)
      rescue SystemCallError => error
        raise ServerFailed.new("#{@command} could not be started: #{error.message}",
          advice: "Check that it is installed and spelled correctly.")
      end

      # @return [String] e.g. "http://127.0.0.1:40123"
      def url
        port = announcement.fetch("ports").first or
          raise ServerFailed.new("The server listens on no TCP port (#{announcement["binds"].join(", ")})",
            advice: "Bind it to one.")
        "http://127.0.0.1:#{port}"
      end

      # @return [Topology] as it runs
      def topology = Topology.from(announcement["workers_count"], announcement["max_threads_count"])

      # @return [Boolean] whether a master stands above the workers; so it does over a single one, with `-w 1`
      def cluster? = announcement["workers_count"].positive?

      # They are sent signals, so a process that was given the id of a worker that has ended is told from it: by its
      # identity.
      #
      # @return [Array<Integer>] serving processes: the workers that are alive, in single mode the only one
      def serving_pids = cluster? ? alive_of(worker_identities).sort : [announcement["pid"]]

      # @return [Array<Integer>] the serving processes and the master
      def pids = [announcement["pid"], *serving_pids].uniq

      # @return [Array<Integer>] those that have started all that is of it: the programs that the app runs, too
      def leaders = [@child.pid, *pids].uniq

      # @return [Array<Integer>] processes that lead its services, as found last
      def services = @services || []

      # Looks for them. There are some once the server has connections, as after a warm-up.
      # @return [void]
      def find_services = @services = Services.of(pids)

      # @return [Boolean]
      def alive? = @child&.alive? || false

      # Waits until it ends by itself.
      def wait = @child.wait

      # Asks it to end, then makes sure. Safe to call again, and when it never started.
      def stop
        terminate if @child&.pid
      ensure
        # A second Ctrl-C cuts the waiting short, and not this.
        Thread.handle_interrupt(Interrupt => :never) { clear_away }
      end

      # Asks it to end and waits, leaving its files in place until `stop`.
      def terminate
        Process.kill(:TERM, announcement ? announcement["pid"] : @child.pid)
        ServerProcess.tell_killed unless @child.wait(STOP_LIMIT_S)
      rescue SystemCallError
        nil # it has ended, it is another user's, which `stop` tells, or nobody reads any more what is told
      end

      # @return [Array<String>] the lines of its output that tell most
      def log_tail = @log.tail

      private

      def worker_identities
        prefix = Probe::Launch::WORKER
        Dir.children(@directory).filter_map { |name| name.delete_prefix(prefix) if name.start_with?(prefix) }
      end

      def alive_of(identities) = identities.select { |one| Probe::Processes.there?(one) }.map(&:to_i)

      def environment
        {
          **@command.environment,
          "PIDFILE" => pid_file,
          "PUMA_TUNER_DIRECTORY" => @directory,
          "PUMA_TUNER_TOPOLOGY" => @topology&.to_s,
          "PUMA_TUNER_BIND" => @bind,
          "PUMA_TUNER_MEASURE" => @measure ? "1" : nil,
          "PUMA_TUNER_LOCKS" => @locks ? "1" : nil,
          "PUMA_TUNER_METER" => @meter ? "1" : nil,
          Probe::KeyedHash::VARIABLE => Masking.key,
          Probe::Extension::FOLDER => CacheFolder.extensions,
          "PUMA_TUNER_OPTIONS" => (options_text if @puma_options.any?),
          "RUBYOPT" => [@command.environment["RUBYOPT"], "-rpuma_tuner/autorun"].compact.join(" "),
          "RUBYLIB" => [Probe::LIBRARY_FOLDER, @command.environment["RUBYLIB"]].compact.join(":")
        }.compact
      end

      # `rails server` does not start where its file says that a server runs: that of another variant in the same
      # folder, or the user's own. At an address of our choice it has a file of its own.
      def pid_file = @bind ? File.join(@directory, "server.pid") : @command.environment["PIDFILE"]

      def options_text = @puma_options.map { |name, value| "#{name}=#{value}" }.join("\n")

      def words = @command.words

      def wait_until_it_serves
        began_s = Clock.now_s
        until serves?
          raise_boot_failure unless alive?
          waited_s = Clock.now_s - began_s
          if waited_s > @boot_limit_s
            raise ServerFailed.new("The server did not come up within #{@boot_limit_s} s", log_tail:,
              advice: [slow_boot_advice, @boot_advice].compact.join(" "))
          end
          tell_silence if waited_s > @silence_s
          sleep 0.02
        end
      end

      # Once, to whoever watches it boot.
      def tell_silence
        return if @silence_told || @echo.nil?
        @silence_told = true
        @log.release
        @echo.puts("puma_tuner: no Puma has told of itself in #{@silence_s} s, so nothing is recorded yet. " \
          "#{slow_boot_advice}")
      end

      def serves?
        path = File.join(@directory, Probe::Launch::ANNOUNCEMENT)
        return false unless File.exist?(path)
        # The file was written by our own code, in our own folder.
        @announcement = Marshal.load(File.binread(path)) # rubocop:disable Security/MarshalLoad
        @identity = Probe::Processes.identity(@announcement["pid"])
        true
      end

      def slow_boot_advice
        without = rubies_without_us.first
        return "Does #{@command} start Puma? Give more time with --boot-limit." unless without
        "Process #{without} (#{Probe::Processes.command_line(without)[0, 60].strip}) runs without puma_tuner, as " \
          "something that #{@command} calls clears the environment: let RUBYOPT, RUBYLIB and all PUMA_TUNER_… " \
          "through, or give the command that starts Puma itself."
      end

      # @return [Array<Integer>] its processes of Ruby that were started without what loads the probe
      def rubies_without_us
        Probe::Processes.tree_of(@child.pid).select do |pid|
          environment = Probe::Processes.read("/proc/#{pid}/environ")
          !environment.empty? && !environment.include?("puma_tuner/autorun") && ruby?(pid)
        end
      end

      def ruby?(pid)
        File.basename(File.readlink("/proc/#{pid}/exe")).start_with?("ruby")
      rescue SystemCallError
        false # it has ended, or is somebody else's
      end

      def raise_boot_failure
        in_background = @child.wait.success? && strays.any?
        @log.finish
        advice = case log_tail.join
        when /Address already in use/ then "Another process listens there; stop it or give another port."
        when /No space left/ then no_space
        else in_background ? IN_BACKGROUND : "Fix what its output says, then run this again."
        end
        raise ServerFailed.new("#{@command} ended before it served a request", log_tail:,
          advice: [advice, @boot_advice].compact.join(" "))
      end

      IN_BACKGROUND = "What it left in the background was stopped: give a command that stays in the foreground, such " \
        "as `rails server` without -d."
      private_constant :IN_BACKGROUND

      # A daemon leaves the group of whoever started it, and has our folder in its environment all the same. Puma writes
      # its title over that, and has announced itself.
      # @return [Array<Integer>] processes of it that are left, whatever group they are in
      def strays
        variable = "PUMA_TUNER_DIRECTORY=#{@directory}\0"
        alive_of([*@identity, *worker_identities]) |
          Probe::Processes.ids.select { |pid| Probe::Processes.read("/proc/#{pid}/environ").include?(variable) }
      end

      def stop_strays
        deadline_s = Clock.now_s + Child::END_LIMIT_S
        until (left = strays).empty? || Clock.now_s > deadline_s
          left.each { |pid| kill(pid) }
          sleep 0.005
        end
      end

      def kill(pid)
        Process.kill(:KILL, pid)
      rescue SystemCallError
        nil # it has ended, or is another user's
      end

      # Nearly always it is ours, in memory: a container has 64 MB of it.
      def no_space
        place = @directory ? File.dirname(@directory) : ScratchFolder.path
        more = ": a container gets more by --shm-size" if place == Probe::Ledgers::IN_MEMORY
        "Make room where its output says, or in #{place}, where files of a run are#{more}."
      end

      # It is told and not raised, as what went wrong before is worth more, and everything else is cleared away.
      def tell_left(group)
        Kernel.warn("puma_tuner: what #{@command} started runs as another user and could not be stopped; stop it " \
          "with `sudo kill -- -#{group}`, and run puma_tuner as that user")
      end

      def clear_away
        tell_left(@child.pid) unless @child.nil? || @child.stop
        stop_strays if @child&.pid
        @log&.finish
      ensure
        @guard&.stop
        ScratchFolder.remove(@directory) if @directory
        @child = @directory = nil
      end
    end
  end
end
