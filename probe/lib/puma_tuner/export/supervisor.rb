# frozen_string_literal: true

require "json"

module PumaTuner
  module Export
    # Runs in the process that leads the server: it starts the exporter's process, prints what that has to say, and
    # starts it again when it has ended. Its thread sleeps all the time in between.
    class Supervisor
      # The pauses between an end and the next start: each is twice the one before, and after a process that has lasted
      # they begin anew.
      PAUSES_S = (1..60)
      LASTED_S = 60

      # The started program forks within so long, or nobody waits for it any more.
      FORK_S = 5

      # These variables make a Ruby another one than the app's: it shall load nothing of the app's.
      OF_RUBY = /\A(RUBY|BUNDLE_|GEM_)/

      # Each line of Probe.say begins with this.
      SAYS = "puma_tuner: "

      # @param settings [Hash{Symbol => Object}] of the Exporter
      def initialize(settings)
        @settings = settings
        @pause_s = PAUSES_S.min
        @due_s = @began_s = Clock.now_s
      end

      # Starts the process, unless it runs or has just ended. A cluster's master must do
      # that between two looks after its workers: what is started here forks and ends at
      # once, and whoever waits for workers meanwhile takes that for one that nobody knows.
      #
      # @return [Thread, nil] one that ends with the process; nil when there is nothing to start, or it can't be
      def start
        return if @runs || @stopped || Clock.now_s < @due_s
        @runs = true
        @began_s = Clock.now_s
        output = spawn
        Thread.new { follow(output) }.tap { |thread| thread.name = "puma_tuner exporter" }
      rescue => error # must not reach whoever serves here
        ended("the exporter's process can't be started (#{error.class}: #{error.message})")
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
        @order.puts(JSON.generate(@settings))
        Process.detach(pid).join(FORK_S)
        output
      ensure
        input&.close
        told&.close
      end

      def follow(output)
        why = nil
        output.each_line(chomp: true) do |line|
          line.start_with?(SAYS) ? Probe.say(line.delete_prefix(SAYS)) : why ||= line
        end
        ended("the exporter's process has ended#{" (#{why})" if why}")
      ensure
        output.close
      end

      def ended(what)
        @order&.close
        return if @stopped
        @pause_s = PAUSES_S.min if Clock.now_s - @began_s > LASTED_S
        @due_s = Clock.now_s + @pause_s
        @pause_s = [@pause_s * 2, PAUSES_S.max].min
        @runs = false
        Probe.say("#{what}; trying again") unless @told == what
        @told = what
        nil
      end

      def environment = ENV.keys.grep(OF_RUBY).to_h { |name| [name, nil] }

      def command
        folders = [Probe::LIBRARY_FOLDER, *Probe::Extension.library_folder].uniq
        [RbConfig.ruby, "--disable=gems", "-E", "UTF-8", *folders.flat_map { |folder| ["-I", folder] },
          "-rpuma_tuner/probe", "-e", "PumaTuner::Export::Exporter.main"]
      end
    end
  end
end
