# frozen_string_literal: true

module PumaTuner
  module Probe
    # Runs in the process that leads the server: it starts a sidecar's process, prints what that has to say, and starts
    # it again when it has ended. Its thread sleeps all the time in between.
    class Supervisor
      # The pauses between an end and the next start: each is twice the one before, and after a process that has lasted
      # they begin anew.
      PAUSES_S = (1..60)
      LASTED_S = 60

      # The started program forks within so long, or nobody waits for it any more: a cluster's master reads no worker's
      # word meanwhile.
      FORK_S = 1

      # In a container this process is the parent of all that have none, and none but it can wait for them.
      FIRST_PID = 1

      # These variables make a Ruby another one than the app's: it shall load nothing of the app's. Among them is
      # BUNDLER_SETUP, a file of Bundler's that RubyGems loads.
      OF_RUBY = /\A(RUBY|BUNDLE|GEM_)/

      # A process that has done its work says so, in a line; until one has, it is tried again sooner.
      DONE = "done"
      SOON_S = 60

      # Of what Ruby says when it breaks so much is told.
      WHY_LENGTH = 300

      # Each line of Probe.say begins with this.
      SAYS = "puma_tuner: "

      # @param name [String] of the process, in what is printed: "exporter"
      # @param script [String] Ruby that the process runs, see Sidecar.main
      # @param settings [Hash{Symbol => Object}] handed to the process
      # @param folders [Array<String>] of $LOAD_PATH, before the probe's own
      # @param pauses_s [Range<Numeric>] see PAUSES_S
      # @param once [Boolean] whether the process ends by itself when its work is done, and begins it anew after a pause
      def initialize(name, script:, settings:, folders: [], pauses_s: PAUSES_S, once: false)
        @name = name
        @script = script
        @settings = settings
        @folders = folders
        @pauses_s = pauses_s
        @once = once
        @pause_s = pauses_s.min
        @began_s = Clock.now_s
        @due_s = once ? @began_s + @pause_s : @began_s
      end

      # Starts the process again and again. Never returns.
      def keep
        loop { start&.join || sleep([@due_s - Clock.now_s, 1].max) }
      end

      # Starts the process, unless it runs or has just ended. A cluster's master must do
      # that between two looks after its workers: what is started here forks and ends at
      # once, and whoever waits for workers meanwhile takes that for one that nobody knows.
      # As the first process of a container it has the sidecar itself for a child, for which
      # a thread waits.
      #
      # @return [Thread, nil] one that ends with the process; nil when there is nothing to start, or it can't be
      def start
        return if @runs || @stopped || Clock.now_s < @due_s
        @runs = true
        @began_s = Clock.now_s
        output = spawn
        Thread.new { follow(output) }.tap { |thread| thread.name = "puma_tuner #{@name}" }
      rescue StandardError, ScriptError => error # must not reach whoever serves here
        ended("the #{@name}'s process can't be started (#{error.class}: #{error.message})")
      end

      # Has the process end, once and for all.
      # @return [void]
      def stop
        @stopped = true
        @order&.close
      end

      private

      # @return [IO] what it says
      def spawn
        input, @order = IO.pipe
        output, told = IO.pipe
        pid = Process.spawn(environment, *command, :in => input, %i[out err] => told, :close_others => true)
        child = Process.detach(pid)
        # Not as JSON: whoever leads the server has not chosen the app's version of json, and may never.
        Marshal.dump(@settings, @order)
        child.join(FORK_S) unless Process.pid == FIRST_PID
        output
      ensure
        input&.close
        told&.close
      end

      def follow(output)
        why = nil
        output.each_line(chomp: true) do |line|
          next @done = true if line == DONE
          line.start_with?(SAYS) ? Probe.say(line.delete_prefix(SAYS)) : why ||= line[0, WHY_LENGTH]
        end
        ended(("the #{@name}'s process has ended#{" (#{why})" if why}" unless @once && why.nil?))
      ensure
        output.close
      end

      # @param what [String, nil] nil: its work was done
      def ended(what)
        @order&.close
        return if @stopped
        @pause_s = @pauses_s.min if !@once && Clock.now_s - @began_s > LASTED_S
        @due_s = Clock.now_s + @pause_s
        @pause_s = [@pause_s * 2, (@once && !@done) ? SOON_S : @pauses_s.max].min
        @runs = false
        Probe.say("#{what}; trying again") unless what.nil? || @told == what
        @told = what
        nil
      end

      def environment = ENV.keys.grep(OF_RUBY).to_h { |name| [name, nil] }

      def command
        folders = [*@folders, LIBRARY_FOLDER, *Extension.library_folder].uniq
        [RbConfig.ruby, "--disable=gems", "-E", "UTF-8", *folders.flat_map { |folder| ["-I", folder] },
          "-rpuma_tuner/probe", "-e", @script]
      end
    end
  end
end
