# frozen_string_literal: true

module PumaTuner
  module Probe
    # This module alone knows Puma (6, 7 and 8) from inside, and has everything that is prepended to it: it decides who
    # is told when one of its classes appears, when a server starts, when a master begins to look after its workers,
    # when a client is queued, and around each request.
    #
    # | differs                 | Puma 6             | 7                 | 8                      | told by         |
    # |-------------------------|--------------------|-------------------|------------------------|-----------------|
    # | Server#handle_request   | (client, requests) | the same          | (processor, client, …) | the version     |
    # | event once it serves    | on_booted          | after_booted      | the same               | both registered |
    # | before_worker_boot hook | a block            | {block:}          | the same               | the version     |
    # | the user's options      | options            | options, _options | _options               | respond_to?     |
    module Puma
      # Puma's outermost middleware sets this in a request's environment. Where it is missing the client had gone before
      # its turn, as clients do who give up while they are queued: no work for the app, so no request.
      APP_WAS_CALLED = "puma.config"

      @waiting = {}
      @server_tasks = []
      @master_tasks = {check: [], stop: []}

      class << self
        # Calls the block with one of Puma's classes, once; at once when it is there, else when it begins to be: it has
        # no methods yet. In a process where Puma may be loaded now, later, or never, this listens to `const_added` on
        # two objects, Object and Puma, which costs nothing once all are loaded. A hook on Kernel#require would be
        # called for every file of the app; a TracePoint would make YJIT throw its code away.
        #
        # @param name [Symbol] a constant of Puma, e.g. :Server
        # @return [void]
        def on(name, &block)
          return block.call(::Puma.const_get(name)) if loaded?(name)
          (@waiting[name] ||= []) << block
          listener_of(defined?(::Puma) ? ::Puma : ::Object)
        end

        # Looks at each client that is queued and each request that is served, by `Probe.recorder`.
        # @return [void]
        def watch_requests
          return if @watches_requests
          @watches_requests = true
          on(:Client) { |client| client.prepend(Stamps) }
          on(:ThreadPool) { |pool| pool.prepend(Queueing) }
          on(:Server) do |server|
            server.prepend((::Puma::Const::PUMA_VERSION.to_i >= 8) ? AroundRequest8 : AroundRequest6)
          end
        end

        # Calls the block in each process that serves, before its first request; at once in one that serves already, as
        # for an app that builds its middleware at its first request.
        #
        # @yieldparam server [Puma::Server]
        # @return [void]
        def on_server_start(&task)
          @server_tasks << task
          on(:Server) do |server|
            server.prepend(ServerStart) unless server.include?(ServerStart)
            running = server.current if server.respond_to?(:current)
            task.call(running) if running
          end
        end

        # Calls the block in a cluster's master when it looks after its workers, again and again.
        # @return [void]
        def on_master_check(&task) = on_master(:check, task)

        # Calls the block in a cluster's master when its workers have ended,
        # before it waits for whatever children are left.
        # @return [void]
        def on_master_stop(&task) = on_master(:stop, task)

        # Calls `configured` with Puma's options before a server of this process
        # is made of them, and `booted` once it serves.
        #
        # @param configured [#call] is given the user's own options, a Hash to be changed
        # @param booted [#call] is given the Puma::Launcher
        # @return [void]
        def around_launch(configured:, booted:)
          @launch = {configured:, booted:}
          on(:Launcher) { |launcher| launcher.prepend(Launching) }
        end

        # Prepares servers of ours, which we stop again and again.
        # @return [void]
        def stop_without_hanging = on(:Server) { |server| server.prepend(Stopping) }

        # Puma 7 and newer keep a hook with its settings.
        #
        # @param hook [#call] is given the index of the worker that boots, in it
        # @return [Object] for the option :before_worker_boot
        def worker_hook(hook) = (::Puma::Const::PUMA_VERSION.to_i >= 7) ? {block: hook} : hook

        # Returns what in the loaded Puma's code decides how it hands over requests, as far as classes, methods and
        # constants show it. Predict::Rules says what each means.
        #
        # @return [Array<String>, nil] nil where Puma's server is not loaded
        def features
          return unless defined?(::Puma::ThreadPool) && defined?(::Puma::Const)
          pool = ::Puma::ThreadPool
          less_busy = pool.method_defined?(:wait_for_less_busy_worker)
          not_full = pool.method_defined?(:wait_until_not_full)
          {
            # It came back after 8.0.2, for queue_requests false alone.
            "accept_gate" => not_full && less_busy, "queueless_gate" => not_full && !less_busy,
            "busy_delay" => less_busy, "overload_delay" => ::Puma.const_defined?(:ClusterAcceptLoopDelay),
            "park" => ::Puma::Const.const_defined?(:FAST_TRACK_KA_TIMEOUT),
            "io_threads" => pool.const_defined?(:ProcessorThread, false)
          }.select { |_, there| there }.keys
        end

        # @return [String, nil] nil in a process without Puma
        def version = (::Puma::Const::PUMA_VERSION if defined?(::Puma::Const))

        # Puma writes both into the title of a worker.
        # @return [Array(Integer, Integer), nil] a worker's index and its
        #   master's process id; nil of a process that is no worker
        def worker = $0[/cluster worker (\d+): (\d+)/] && [$1.to_i, $2.to_i]

        # @param server [Puma::Server, nil]
        # @return [Integer, nil] how many workers the cluster has; 0: it is none; nil where it can't be told
        def workers_count(server)
          options = server&.instance_variable_get(:@options)
          options[:workers]&.to_i if options.respond_to?(:[])
        end

        # @param server [::Puma::Server, nil]
        # @return [Integer, nil] pool threads that it may have; nil where that can't be told
        def threads_count(server) = (server.max_threads if server.respond_to?(:max_threads))

        # @api private
        def server_starts(server) = @server_tasks.each { |task| task.call(server) }

        # @api private
        def master_does(what) = @master_tasks.fetch(what).each(&:call)

        # @api private
        def launches(configuration)
          @launch[:configured]
            .call((configuration.respond_to?(:_options) ? configuration._options : configuration.options).user_options)
        end

        # @api private
        def booted(launcher) = @launch[:booted].call(launcher)

        # @api private
        def constant_added(owner, name)
          if owner.equal?(::Object)
            listener_of(::Puma) if name == :Puma && !::Object.autoload?(:Puma)
          elsif loaded?(name)
            @waiting.delete(name)&.each { |block| block.call(::Puma.const_get(name)) }
          end
        end

        private

        def on_master(what, task)
          @master_tasks.fetch(what) << task
          on(:Cluster) { |cluster| cluster.prepend(Master) unless cluster.include?(Master) }
        end

        # An autoload is announced like a constant, and must not be triggered by us.
        def loaded?(name)
          defined?(::Puma) && !::Puma.autoload?(name) && ::Puma.const_defined?(name, false)
        end

        def listener_of(owner) = owner.singleton_class.prepend(Listener)
      end

      # Hears of constants as they appear.
      module Listener
        def const_added(name)
          super
          Puma.constant_added(self, name) if equal?(::Object) || (defined?(::Puma) && equal?(::Puma))
        end
      end

      # Tells when a server starts.
      module ServerStart
        def run(...)
          Puma.server_starts(self)
          super
        end
      end

      # Tells what a cluster's master does.
      module Master
        # Puma calls it in the master's loop, between forks.
        def check_workers(...)
          Puma.master_does(:check)
          super
        end

        def stop_blocked(...)
          Puma.master_does(:stop)
          super
        end
      end

      # Tells when Puma launches, and when it has booted.
      module Launching
        def initialize(configuration, *)
          Puma.launches(configuration)
          super
          %i[on_booted after_booted].each { |event| events.register(event) { Puma.booted(self) } }
        end
      end

      # Puma tells its server's thread to stop through a pipe, which that thread closes at once, while who has written
      # still waits for the GVL. With Ruby 3.4 each then waits for the other forever (puma/puma#3677): of 15 stops of a
      # cluster on two busy cores, 10 hung, and 8 with syswrite, which the next Puma has. A write that never lets go of
      # the GVL is over before: none hung.
      module Stopping
        private

        def notify_safely(message)
          @notify.write_nonblock(message)
        rescue NoMethodError, IOError, SystemCallError
          super
        end
      end

      # Puma writes the response and calls `rack.response_finished` inside: what follows the response still keeps the
      # thread, and counts. A splat would do for all versions, and allocate for each request.
      module AroundRequest6
        def handle_request(client, requests)
          recorder = Probe.recorder
          begun = recorder.begin(client)
          super
        ensure
          recorder.finish(client) if begun
        end
      end

      # The same for Puma 8, whose method has one parameter more.
      module AroundRequest8
        def handle_request(processor, client, requests)
          recorder = Probe.recorder
          begun = recorder.begin(client)
          super
        ensure
          recorder.finish(client) if begun
        end
      end

      # Keeps what is known of a client's request before it begins. A client has these variables from the start: where
      # an object gets one late, Ruby looks up all its others by the slow path from then on.
      module Stamps
        attr_accessor :puma_tuner_queued_ns, :puma_tuner_before_puma_ns

        def initialize(...)
          @puma_tuner_queued_ns = @puma_tuner_before_puma_ns = nil
          super
        end
      end

      # The acceptor and the reactor queue clients. Both may have waited for the GVL since the client was there, so the
      # stamp is the moment at which they were woken for it.
      module Queueing
        def <<(work)
          work.puma_tuner_queued_ns = GvlClock.woken_ns if work.respond_to?(:puma_tuner_queued_ns=)
          super
        end
      end
    end
  end
end
