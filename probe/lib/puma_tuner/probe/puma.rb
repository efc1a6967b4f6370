# frozen_string_literal: true

module PumaTuner
  module Probe
    # This module alone knows Puma (6, 7 and 8) from inside, and has everything that is prepended to it: it decides who
    # is told when one of its classes appears, when a server starts, when a master begins to look after its workers,
    # when a client is queued, and around each request; and how many threads a pool has (PoolSize).
    #
    # | differs                 | Puma 6             | 7                 | 8                      | told by         |
    # |-------------------------|--------------------|-------------------|------------------------|-----------------|
    # | Server#handle_request   | (client, requests) | the same          | (processor, client, …) | version, arity  |
    # | event once it serves    | on_booted          | after_booted      | the same               | both registered |
    # | before_worker_boot hook | a block            | {block:}          | the same               | the version     |
    # | the user's options      | options            | options, _options | _options               | respond_to?     |
    module Puma
      # Puma's outermost middleware sets this in a request's environment. Where it is missing the client had gone before
      # its turn, as clients do who give up while they are queued: no work for the app, so no request.
      APP_WAS_CALLED = "puma.config"

      @waiting = {}
      @server_tasks = []
      @worker_tasks = []
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
          on(:Server) { |server| server.prepend(AROUND_REQUEST.fetch(version.to_i)) if known?(server) }
          on_server_start { why_unwatched }
        end

        # Asked before a server serves, when its class has its methods. Of a Puma that hands over requests in another
        # form each would end as a 500, so it has its own method back.
        #
        # @return [String, nil] why requests can't be watched
        def why_unwatched
          return if !@watches_requests || !loaded?(:Server) || known?(::Puma::Server)
          [*AROUND_REQUEST.values.uniq, Stamps].each do |ours|
            %i[handle_request finish].each { |name| ours.send(:remove_method, name) if ours.method_defined?(name) }
          end
          "Puma #{version} hands over requests in a form that this version of puma_tuner does not know"
        end

        # Calls the block in each process that serves, before its first request; at once in one that serves already, as
        # for an app that builds its middleware at its first request.
        #
        # @yieldparam server [Puma::Server]
        # @return [void]
        def on_server_start(&task)
          @server_tasks << task
          watch_master
          master_starts # it may have, where puma.rb's before_fork or a preloaded app has called us
          on(:Server) do |server|
            server.prepend(ServerStart) unless server.include?(ServerStart)
            running = server.current if server.respond_to?(:current)
            runs_already(server, task) if running
          end
        end

        # Calls the block in each worker of a cluster before its boot hooks, which puma.rb may have. Workers that began
        # before the probe are left out.
        # @return [void]
        def on_worker_start(&task) = @worker_tasks << task

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

        # A worker that began before the probe is known by the title that Puma gives it, which an app may change. The
        # app's folder stands in it, in letters that no locale may know.
        # @return [Array(Integer, Integer), nil] a worker's index and its
        #   master's process id; nil of a process that is no worker
        def worker = @worker || ($0.b[/cluster worker (\d+): (\d+)/] && [$1.to_i, $2.to_i])

        # @return [Boolean] whether the app has forked this process in one that serves, whose worker's title it has, too
        def forked_by_app? = !@serving_pid.nil? && @serving_pid != Process.pid

        # @param server [Puma::Server, nil] nil: the worker knows, too
        # @return [Integer, nil] how many workers the cluster has; 0: it is none; nil where it can't be told
        def workers_count(server) = options_of(server)&.[](:workers)&.to_i

        # @param server [::Puma::Server, nil] nil: the worker knows, too, where its first work is a job
        # @return [Integer, nil] pool threads that it may have; nil where that can't be told
        def threads_count(server)
          return server.max_threads if server.respond_to?(:max_threads)
          options_of(nil)&.[](:max_threads)&.to_i
        end

        # Puma 6 waits on a connection for its next request, and any Puma without its reactor for the first.
        #
        # @param server [::Puma::Server, nil] nil: the worker knows, too
        # @return [Boolean] whether its threads look at connections, and wait on none; false where that can't be told
        def looks_only?(server)
          options_of(server)&.[](:queue_requests) == true && !::Puma::Const.const_defined?(:FAST_TRACK_KA_TIMEOUT)
        end

        # Counts the responses of this process that tell of an error of the server's. For servers that may be resized,
        # as on the way of each request it costs a comparison.
        # @return [void]
        def count_errors
          return if @errors_count
          @errors_count = 0
          on(:Server) { |server| server.prepend(ErrorCount) }
        end

        # @return [Integer, nil] responses of 500 and above; nil where nobody counts them
        attr_reader :errors_count

        # @api private
        def error_told = @errors_count += 1

        # @api private
        # @return [Object, nil] for `leave`: who records the request, or true where nobody does; nil where the client
        #   has come by in this request before
        def enter(client, ignored)
          return if client.puma_tuner_under_way
          client.puma_tuner_under_way = true
          recorder = Probe.recorder
          (!ignored && recorder.begin(client)) ? recorder : true
        end

        # @api private
        # @param entered [Object] what `enter` returned
        def leave(client, entered)
          client.puma_tuner_under_way = false
          entered.finish(client) unless entered == true
        end

        # Puma's own, below what others have put around it or in its place.
        #
        # @api private
        # @return [UnboundMethod]
        def own_handler = @own_handler ||= own(::Puma::Server.instance_method(:handle_request))

        # Servers that are not the app's are left alone: Puma's control server, which in single mode starts before the
        # app's and in a cluster is the master's, and those that plugins have. What does not fit is taken out of them,
        # too.
        #
        # @api private
        def server_starts(server)
          unless of_app?(server)
            server_ignored(server)
            return why_unwatched
          end
          @serving_pid = Process.pid
          @server_tasks.each { |task| task.call(server) }
        end

        # @api private
        def master_starts
          ::Puma::Cluster::Worker.prepend(WorkerStart) if defined?(::Puma::Cluster::Worker)
        end

        # @api private
        def worker_starts(worker)
          @cluster_worker = worker
          @serving_pid = Process.pid
          @worker = [worker.index, worker.master] if worker.respond_to?(:index) && worker.respond_to?(:master)
          @worker_tasks.each(&:call)
        end

        # @api private
        def master_does(what) = @master_tasks.fetch(what).each(&:call)

        # Puma loads the files that the command names (-C) after any other, so that theirs would hold. What takes the
        # place of a configuration takes that of the last of them, whose settings hold over the others'.
        #
        # @api private
        def launches(configuration)
          options = configuration.respond_to?(:_options) ? configuration._options : configuration.options
          ours = options.user_options
          before = ours[:config_files]
          @launch[:configured].call(ours)
          return if ours[:config_files].equal?(before)
          ours[:config_files] = [*options.file_options.delete(:config_files).to_a[0...-1], *ours[:config_files]]
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

        # Puma wraps the app that it serves, and no other.
        def of_app?(server)
          !defined?(::Puma::Configuration::ConfigMiddleware) || ::Puma::Configuration::ConfigMiddleware === server.app
        end

        # For an app that builds its middleware at its first request. Other servers of this process have started, too.
        def runs_already(servers, task)
          @others_seen ||= ObjectSpace.each_object(servers) { |server| server_ignored(server) unless of_app?(server) }
          servers.current.then { |server| task.call(server) if of_app?(server) }
        end

        def server_ignored(server) = server.instance_variable_set(:@puma_tuner_ignored, true)

        # @return [Object, nil] Puma's options, of the server or else of the worker; nil where they can't be told
        def options_of(server)
          options = (server || @cluster_worker)&.instance_variable_get(:@options)
          options if options.respond_to?(:[])
        end

        def on_master(what, task)
          @master_tasks.fetch(what) << task
          watch_master
        end

        def watch_master = on(:Cluster) { |cluster| cluster.prepend(Master) unless cluster.include?(Master) }

        # Whether a request is handed over in the form of its version, as far as there is a method yet. Ours and other
        # gems' lie around Puma's own.
        def known?(server)
          around = AROUND_REQUEST[version.to_i] or return false
          return true unless server.method_defined?(:handle_request) || server.private_method_defined?(:handle_request)
          method = own(server.instance_method(:handle_request))
          count = PARAMETERS_COUNT.fetch(around)
          method.arity == count || (method.arity.negative? && ~method.arity <= count) # a splat takes as many
        end

        def own(method)
          while (beneath = method.super_method) do method = beneath end
          method
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

      # Tells when a worker starts: an app may give it another title before its server does.
      module WorkerStart
        def run(...)
          Puma.worker_starts(self)
          super
        end
      end

      # Tells what a cluster's master does.
      module Master
        # Its workers' class is there by now, which it is not yet when the cluster's appears.
        def run(...)
          Puma.master_starts
          super
        end

        # Puma calls it in the master's loop, between forks. What is done here may take a moment, in which no worker's
        # word is read: so not before Puma ends those that have said nothing for long.
        def check_workers(...)
          super
          Puma.master_does(:check)
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
      #
      # Where the app, or a tool, has put a method of its own in the place of Puma's since, and calls the one before it
      # by an alias, that is ours, whose super is the app's: a client that comes by again goes to Puma's own.
      module AroundRequest6
        def handle_request(client, requests)
          entered = Puma.enter(client, @puma_tuner_ignored)
          entered ? super : Puma.own_handler.bind_call(self, client, requests)
        ensure
          Puma.leave(client, entered) if entered
        end
      end

      # The same for Puma 8, whose method has one parameter more.
      module AroundRequest8
        def handle_request(processor, client, requests)
          entered = Puma.enter(client, @puma_tuner_ignored)
          entered ? super : Puma.own_handler.bind_call(self, processor, client, requests)
        ensure
          Puma.leave(client, entered) if entered
        end
      end

      # By Puma's major version.
      AROUND_REQUEST = {6 => AroundRequest6, 7 => AroundRequest6, 8 => AroundRequest8}.freeze
      PARAMETERS_COUNT = {AroundRequest6 => 2, AroundRequest8 => 3}.freeze

      # Counts responses of 500 and above: those that the app gave, and those of Puma where the app raised.
      module ErrorCount
        def prepare_response(status, ...)
          Puma.error_told if status.is_a?(Integer) && status >= 500 && !@puma_tuner_ignored
          super
        end
      end

      # Keeps what is known of a client's request before it begins. A client has these variables from the start: where
      # an object gets one late, Ruby looks up all its others by the slow path from then on.
      module Stamps
        attr_accessor :puma_tuner_queued_ns, :puma_tuner_before_puma_ns, :puma_tuner_under_way

        def initialize(...)
          @puma_tuner_queued_ns = @puma_tuner_before_puma_ns = @puma_tuner_under_way = nil
          super
        end

        # Puma calls it in the thread that is to serve the client. Without its reactor (queue_requests false) the
        # request may not have come yet: then it has not queued, and begins when it has come.
        def finish(...)
          self.puma_tuner_queued_ns = nil unless ready || try_to_finish
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

      # How many threads a serving pool may have, changed while it serves. Puma 8 can, with four gaps that are filled in
      # here; each has a test by its name in resize_test.rb.
      #
      # - More: a higher maximum alone starts no thread before the next client is queued, so Puma's own rule is asked
      #   for each client that waits.
      # - Fewer, idle: `trim` goes down to the minimum, so that is lowered, too.
      # - Fewer, busy: `trim` never bites while a client is queued, but a thread that is marked as an IO thread beyond
      #   the maximum ends after its request.
      # - Puma 8.0.2 forgets to count such a thread out (puma/puma#3958), and would start none in its place. What is
      #   spawned is as many as it has listed, under its mutex.
      module PoolSize
        module_function

        # @param server [::Puma::Server, nil]
        # @return [String, nil] why its pool can't be resized; nil where it can
        def why_not(server)
          return "the server had started before it was recorded" unless server
          unless server.respond_to?(:update_thread_pool_min_max)
            return "Puma #{Puma.version} can't resize its pool; Puma 8 can"
          end
          options = server.instance_variable_get(:@options)
          "fiber_per_request: no thread serves a request" if options.respond_to?(:[]) && options[:fiber_per_request]
        end

        # @param server [::Puma::Server]
        # @return [Hash{Symbol => Integer}, nil] min_count, max_count; spawned_count as Puma counts, live_count of
        #   threads; waiting_count of them idle; queued_count of clients; nil of a server that has no pool yet
        def read(server)
          with_pool(server) do |pool|
            {min_count: pool.min, max_count: pool.max, spawned_count: pool.spawned,
             live_count: processors(pool).count(&:alive?), waiting_count: pool.waiting, queued_count: pool.backlog}
          end
        end

        # Has the pool come to the size, as far as it does without interrupting a request: to be called again while
        # threads beyond it serve.
        #
        # @param server [::Puma::Server]
        # @param min [Integer]
        # @param max [Integer] 1 or more: Puma takes 0, and never serves again
        # @return [Boolean] whether no thread is left beyond it
        # @raise [ArgumentError] of a size that can't be; nothing is changed then
        def set(server, min:, max:)
          unless [min, max].all?(Integer) && min >= 0 && max >= 1 && min <= max
            raise ArgumentError, "a pool can't have #{min.inspect} to #{max.inspect} threads"
          end
          with_pool(server) do |pool|
            next true if pool.instance_variable_get(:@shutdown)
            server.update_thread_pool_min_max(min:, max:) unless [pool.min, pool.max] == [min, max]
            count_out(pool)
            shrink(pool)
            grow(pool)
            beyond(pool) <= 0
          end || false
        end

        # Contract of the methods below: the pool's mutex is held.

        def with_pool(server)
          pool = server.instance_variable_get(:@thread_pool) or return
          pool.with_mutex { yield(pool) }
        end

        def processors(pool) = pool.instance_variable_get(:@processors)

        def count_out(pool)
          pool.reap
          listed_count = processors(pool).size
          pool.instance_variable_set(:@spawned, listed_count) if pool.spawned > listed_count
        end

        # What was asked for before is asked for anew: in a pool that got busy meanwhile it would never bite.
        def shrink(pool)
          pool.instance_variable_set(:@trim_requested, 0)
          idle_count = [pool.waiting - pool.backlog, 0].max
          beyond(pool).clamp(0, idle_count).times { pool.trim(true) }
          marked, others = processors(pool).partition(&:marked_as_io_thread?)
          busy_count = beyond(pool) - pool.trim_requested - (marked.size - io_count(pool))
          others.last([busy_count, 0].max).each { |processor| processor.marked_as_io_thread = true }
        end

        # The same as for each client that is queued from now on. Where nothing queues them (queue_requests false),
        # newer Pumas' acceptor waits for room.
        def grow(pool)
          [pool.backlog - pool.waiting, 0].max.times { pool.spawn_thread_if_needed }
          pool.instance_variable_get(:@not_full)&.broadcast if pool.respond_to?(:wait_until_not_full)
        end

        # Threads that the app has marked as waiting for IO may be there besides.
        def beyond(pool) = pool.spawned - pool.max - io_count(pool)

        def io_count(pool)
          [processors(pool).count(&:marked_as_io_thread?), pool.instance_variable_get(:@max_io_threads).to_i].min
        end

        private_class_method :with_pool, :processors, :count_out, :shrink, :grow, :beyond, :io_count
      end
    end
  end
end
