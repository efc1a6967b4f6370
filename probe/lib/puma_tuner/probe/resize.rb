# frozen_string_literal: true

module PumaTuner
  module Probe
    # Gives this process's pool as many threads as a controller (`puma_tuner trial`, `puma_tuner auto`) orders, where
    # the server was started with that allowed. A thread looks for the order once a second; nothing else of it runs.
    #
    # It is a dead man's switch: an order is good for seconds, and has to be given again and again. Where it has
    # expired, its controller has gone, or it can't be understood, the pool gets its configured size again. Nothing of
    # it outlives the process: one that Puma starts in its place begins with what puma.rb says.
    #
    # What is allowed is asked where workers are forked from, before the app has chosen its version of json: so json is
    # loaded where an order is read.
    class Resize
      LOOK_S = 1

      # For trials that a person begins; Puma serves no app better with more.
      THREADS_MAX = 64

      # An order that is to hold for longer was not made by a controller of ours.
      LEASE_MAX_S = 30

      # Of the order and of the state, which two processes exchange that may be of different versions.
      FORMAT = 1

      # Both lie beside the ledgers; the state has the name of its ledger.
      ORDER = "resize.order"
      STATE = ".pool"

      # What is larger is none of ours.
      MOST_BYTES = 100_000

      # @param ledger_path [String]
      # @return [Hash{Symbol => Object}, nil] what its process tells of its pool, see #tell; nil of one that may not be
      #   resized, or has not begun to tell
      def self.state(ledger_path)
        require "json"
        # No pattern is looked for in a path, which may be broken text for Ruby, as where no locale is set.
        path = "#{ledger_path.delete_suffix(File.extname(ledger_path))}#{STATE}"
        text = File.binread(path, MOST_BYTES).to_s # nil of an empty file
        JSON.parse(text, symbolize_names: true).then { |state| state if state.is_a?(Hash) }
      rescue Errno::ENOENT, JSON::ParserError, EncodingError # the last, of a key that is no text
        nil
      end

      # How many threads each process may have by now: its ledger tells what was configured when it began.
      #
      # @param ledger_paths [Array<String>]
      # @return [Hash{String => Integer}] by path; without processes that may not be resized, or have not begun to tell
      def self.threads_counts(ledger_paths)
        ledger_paths.each_with_object({}) do |path, counts|
          state(path) in {pool: {max_count: Integer => count}} or next
          counts[path] = count
        end
      end

      # What an app allows.
      #
      # range: Range<Integer>, threads; automatic: whether `puma_tuner auto` may go through it by itself
      Allowed = Data.define(:range, :automatic) do
        # @param trial [Boolean]
        # @param tune [Range<Integer>, nil]
        # @return [Allowed, nil] nil: no resizing
        # @raise [UsageError]
        def self.of(trial:, tune:)
          return (new(range: 1..Resize::THREADS_MAX, automatic: false) if trial) if tune.nil?
          least, most = tune.minmax if tune.is_a?(Range) && [tune.begin, tune.end].all?(Integer)
          return new(range: least..most, automatic: true) if least && least >= 1 && most <= Resize::THREADS_MAX
          raise UsageError, "tune: #{tune.inspect}: write how many threads a process may have, such as 1..8, " \
            "from 1 to #{Resize::THREADS_MAX}"
        end
      end

      # What a controller wants for the next seconds.
      #
      # controller: Processes.identity; expires_at_ns: by the clock that all processes of a machine share
      # threads: {process id, as the process itself knows it => threads}; all others have what is configured
      Order = Data.define(:controller, :expires_at_ns, :threads) do
        # @return [Order, nil] nil where there is none
        # @raise [JSON::ParserError, KeyError, TypeError] of what is no order of this version's
        def self.read(directory)
          require "json"
          fields = JSON.parse(File.binread(File.join(directory, Resize::ORDER), Resize::MOST_BYTES))
          raise KeyError, "its format is #{fields["format"].inspect}" unless fields["format"] == Resize::FORMAT
          new(controller: fields.fetch("controller").to_s.scrub, expires_at_ns: Integer(fields.fetch("expires_at_ns")),
            threads: fields.fetch("threads").to_h { |pid, count| [Integer(pid), Integer(count)] })
        rescue Errno::ENOENT
          nil
        rescue NoMethodError, ArgumentError => error
          raise TypeError, error.message
        rescue FloatDomainError
          raise TypeError, "a number in it is beyond all numbers"
        end

        # The server may be another user's, as a container's is to root; nobody else gets into the folder.
        #
        # @raise [SystemCallError]
        def write(directory)
          require "json"
          text = JSON.generate({format: Resize::FORMAT, **to_h})
          AtomicFile.write(File.join(directory, Resize::ORDER), text, permissions: 0o644)
        end

        # @return [Symbol, nil] why it does not hold; nil where it does
        def why_not(now_ns)
          left_ns = expires_at_ns - now_ns
          return :expired unless left_ns.positive?
          return :too_long if left_ns > Resize::LEASE_MAX_S * Units::NS_PER_S
          :controller_gone unless controller_there?
        end

        private

        # A process of another container can't be seen; then its order expires.
        def controller_there?
          _, _, namespace = controller.split("-")
          !Processes.identity(Process.pid).end_with?("-#{namespace}") || Processes.there?(controller)
        end
      end

      # @param server [::Puma::Server, nil]
      # @param recording [Recording] of this process
      # @param allowed [Allowed]
      def initialize(server, recording:, allowed:)
        require "json" # the app's, as this process serves
        @server = server
        @directory = recording.ledgers.directory
        @path = recording.ledger_path.to_s.sub(/\.\w+\z/, STATE)
        @worker_index = recording.worker_index
        @allowed = allowed
        @why_never = recording.why_not || PoolSize.why_not(server)
      end

      PoolSize = Puma::PoolSize
      private_constant :PoolSize

      # Looks from now on, in a thread of its own.
      # @return [void]
      def start
        remove_ended
        Thread.new { loop { look && sleep(LOOK_S) || break } }.name = "puma_tuner resize"
      end

      # A file that can't be read or written, as where a disk is full or the app has used up all file descriptors, is no
      # fault of ours, and may be read or written the next time.
      #
      # @return [Boolean] whether to look again: not where nothing can be done, and after a fault of ours
      def look
        return give_back if @faulty
        if @why_never
          tell(nil, @why_never)
          return false
        end
        begin_with_configured unless @configured
        obey if @configured
        true
      rescue SystemCallError
        true
      rescue StandardError, ScriptError => error
        Probe.fault("the pool of threads could not be resized", error)
        @faulty = true
        give_back
      end

      private

      # Before the server serves it has no pool.
      def begin_with_configured
        @configured = PoolSize.read(@server)&.values_at(:min_count, :max_count) or return
        tell(nil, nil)
      end

      def obey
        threads, why_not, ordered = wanted
        change = threads || (@threads && @configured)
        settled = @settled
        if change || settled == false
          min, max = threads ? [threads, threads] : @configured
          @settled = PoolSize.set(@server, min:, max:)
          @threads = threads
        end
        tell(threads, why_not) if ordered || change || settled == false || @untold || why_not != @told_why_not
      end

      # @return [Array(Integer, Symbol, Boolean)] threads, nil: as configured; why the order is not obeyed; whether
      #   there is one that holds
      def wanted
        order = Order.read(@directory) or return [nil, nil, false]
        why_not = order.why_not(Clock.now_ns)
        return [nil, why_not, false] if why_not
        threads = order.threads[Process.pid]
        return [threads, nil, true] if threads.nil? || @allowed.range.cover?(threads)
        [nil, :not_allowed, true]
      rescue JSON::ParserError, KeyError, TypeError
        [nil, :other_version, false]
      rescue SystemCallError
        [nil, :unreadable, false]
      end

      # After a fault the pool gets what is configured, and a controller is told of it as soon as that can be written.
      # Threads beyond it may be serving, and Puma's count is fixed once they have ended.
      #
      # @return [Boolean] whether to look again
      def give_back
        min, max = @configured
        settled = min.nil? || PoolSize.set(@server, min:, max:)
        @threads = nil
        tell(nil, :fault)
        !settled
      rescue SystemCallError
        true
      rescue StandardError, ScriptError => error
        withdraw
        what = @threads ? "the pool of threads keeps #{@threads}" : "nobody can be told of the pool of threads"
        Probe.say("#{what} (#{error.class}: #{error.message})")
        false
      end

      # Leaves for a controller what this process may do, and does.
      def tell(threads, why_not)
        AtomicFile.write(@path, JSON.generate({
          format: FORMAT, pid: Process.pid, worker_index: @worker_index, told_at_ns: Clock.now_ns,
          least: @allowed.range.min, most: @allowed.range.max, automatic: @allowed.automatic,
          configured: @configured, threads:, why_not:, errors_count: Puma.errors_count,
          connections_count: BlockingRegions.active_record_connections_count,
          pool: (PoolSize.read(@server) unless @why_never)
        }))
        @told_why_not, @untold = why_not, false
      rescue SystemCallError
        @untold = true
        withdraw
        raise
      end

      # Rather nothing than what is no longer so.
      def withdraw
        File.unlink(@path)
      rescue SystemCallError
        nil # it is not there, or the place is read-only
      end

      # Of processes that have ended without folding their ledgers, a state each would stay behind.
      def remove_ended
        Dir[File.join(@directory, "*#{STATE}")].each do |path|
          ledgers = %w[.ledger .json].map { |kind| "#{path.delete_suffix(STATE)}#{kind}" }
          File.unlink(path) unless ledgers.any? { |ledger| File.exist?(ledger) }
        rescue SystemCallError
          next
        end
      end
    end
  end
end
