# frozen_string_literal: true

module PumaTuner
  module Probe
    # A process of ours beside a server, which a Supervisor starts. It takes nothing of any app's GVL, and where cores
    # or memory are short, the server comes first.
    #
    # It is nobody's child, as an app may wait for all of its own. Where the leader is the first process of a container,
    # what is nobody's child is the leader's, so there it stays that, and a thread waits for it by its id.
    # It ends with its server: when the pipe that is its standard input ends, or, where a child of the app's keeps that
    # open, when the leader is seen to be gone.
    module Sidecar
      # It looks this often whether the leader is there.
      LOOK_S = 1

      # The kernel ends this process before all of the server's when memory gets short.
      OOM_SCORE = 500

      # Orders to the server, which reach all of its group.
      SIGNALS = %w[INT TERM HUP].freeze

      class << self
        # Detaches this process from the server's leader, which has just started it.
        #
        # @yieldparam settings [Hash{Symbol => Object}] of the Supervisor
        # @return [void]
        def main
          SIGNALS.each { |signal| trap(signal, "IGNORE") }
          return if Process.ppid != Supervisor::FIRST_PID && Process.respond_to?(:fork) && fork
          settings = settings_of_leader or return
          yield settings
        end

        # @param title [String] what `ps` shows
        # @param nicer [Integer] by how much it gives way, where it may
        # @param leader_pid [Integer]
        # @param leader [String] Processes.identity of the process that leads the server
        # @yield when the server has gone, before this process ends
        # @return [void]
        def settle(title, nicer:, leader_pid:, leader:, &gone)
          Process.setproctitle("puma_tuner #{title} of #{leader_pid}")
          give_way(nicer)
          Thread.new { end_with(leader, &gone) }
        end

        private

        def settings_of_leader
          Marshal.load($stdin) # rubocop:disable Security/MarshalLoad -- written by our own parent
        rescue EOFError
          nil # its server has gone already
        end

        def give_way(nicer)
          own = Process.getpriority(Process::PRIO_PROCESS, 0)
          Process.setpriority(Process::PRIO_PROCESS, 0, [own + nicer, 19].min)
          score = File.read("/proc/self/oom_score_adj").to_i
          File.write("/proc/self/oom_score_adj", [score, OOM_SCORE].max.to_s)
        rescue SystemCallError
          nil
        end

        def end_with(leader)
          loop { break if $stdin.wait_readable(LOOK_S) || !Processes.there?(leader) }
          yield if block_given?
        rescue SystemCallError
          nil
        ensure
          exit!(0)
        end
      end
    end

    # Has sidecars run beside a server, started by the process that leads it: a cluster's master leads it from the first
    # look after its workers on, a single process from the start of its server on. To read a configuration, as `pumactl`
    # does, is neither. Where the workers alone know the probe, as with `PumaTuner.run` in config.ru, the first of them
    # stands in for their master.
    module Sidecars
      @makers = {}

      class << self
        # @param name [String] of the sidecar; the same one is not started twice
        # @yieldparam ledgers [Ledgers] of the server
        # @yieldparam leader [Hash{Symbol => Object}] leader_pid and leader, see Sidecar.settle
        # @yieldreturn [Supervisor, nil] nil where it is not to run
        # @return [void]
        def add(name, &maker)
          first = @makers.empty?
          @makers[name] ||= maker
          return unless first
          @added_pid = Process.pid
          Puma.on_master_check { supervisors.each(&:start) }
          # Where the master is the first process of a container, what is nobody's child is its own, and it waits for
          # all of them.
          Puma.on_master_stop { @supervisors&.each(&:stop) }
          Puma.on_server_start { keep_all if starts? }
        end

        private

        def starts?
          index, = Puma.worker
          index.nil? || (index.zero? && @added_pid == Process.pid)
        end

        # Once in a process: a worker that others are forked from (`fork_worker`) has its server start again after that.
        def keep_all
          return if @kept_pid == Process.pid
          @kept_pid = Process.pid
          supervisors.each { |one| Thread.new { one.keep }.name = "puma_tuner supervisor" }
        end

        # @return [Array<Supervisor>] of this process's server
        def supervisors
          return @supervisors if @pid == Process.pid
          @pid = Process.pid
          @supervisors = []
          leader_pid = Puma.worker&.last || Process.pid
          # This process holds them as long as it lives.
          @ledgers = Ledgers.of(directory: ENV["PUMA_TUNER_DIRECTORY"], leader_pid:)
          leader = {leader_pid:, leader: Processes.identity(leader_pid)}
          @supervisors = @makers.filter_map { |name, maker| made(name, maker, leader) }
        rescue StandardError, ScriptError => error
          # Lines without a forecast are told by themselves.
          names = @makers.keys - [Forecasting::NAME]
          Probe.say("the #{names.join(" and the ")} can't run (#{error.class}: #{error.message})") if names.any?
          @supervisors
        end

        # A fault in here must not reach the app, which then serves without us.
        def made(name, maker, leader)
          maker.call(@ledgers, leader)
        rescue StandardError, ScriptError => error
          Probe.say("the #{name} can't run (#{error.class}: #{error.message})")
        end
      end
    end
  end
end
