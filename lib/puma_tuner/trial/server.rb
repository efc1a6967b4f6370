# frozen_string_literal: true

module PumaTuner
  module Trial
    # A running server whose processes may be resized, from outside: what its ledgers and the states beside them tell,
    # and the order that its processes obey.
    class Server
      # A process of it tells nothing of its threads: it has begun, and does not tell yet, or can't write.
      Silent = Class.new(UsageError)

      # It has ended, or its folder was removed: nothing of it can be read or ordered any more.
      Gone = Class.new(MeasurementFailed)

      # An order is given once a second; a controller that stands still is out of force after this.
      LEASE_S = 5

      # A process tells what it allows a moment after it has begun to record.
      BOOT_S = 3

      # What an app has forked to measure a job serves nothing, and never tells. A worker whose app measures something
      # as it boots tells later, by then at most.
      NEVER_TELLS_S = 60

      # It looks for an order once a second, and later where it gets little of a core.
      TELL_S = 8

      # Memory of a large process takes milliseconds to read.
      MEMORY_FRESH_S = 5

      # Of a process that has told of its threads before.
      SILENT = {why_not: "silent", pool: {max_count: 0, spawned_count: 0, live_count: 0, waiting_count: 0,
                                          queued_count: 0}.freeze}.freeze

      HOW = "Start it with `PumaTuner.run(trial: true)`, or with PUMA_TUNER_TRIAL=1 and `plugin :puma_tuner`, " \
        "in config/puma.rb."

      # Of histograms a trial compares the first, of wall times.
      class LedgerReader < Probe::Ledger::Reader
        private

        def histograms_count = 1
      end

      # @return [Probe::Ledgers]
      attr_reader :ledgers

      # @param found [Data] pid (as it is counted here) of the process that leads it, directory of its ledgers, ours,
      #   and alive?, as a Top::Server has them
      # @param pids [#pid_of] answers the id that a process has here, by its own; nil of one that has ended
      # @raise [UsageError] of one that a command of ours records
      def initialize(found, pids:)
        raise UsageError, "a puma_tuner command records the server #{found.pid}; wait for its end" if found.ours
        @found = found
        @pids = pids
        @directory = found.directory
        @ledgers = found.ledgers
        @memory = {}
        @told = {}
        forget
      end

      # @return [Integer] of the process that leads it, as it is counted here
      def leader_pid = @found.pid

      # @return [Boolean] whether it has not ended
      def there? = @found.alive?

      # @return [Hash{String => Probe::Ledger}] with the ids that processes have here
      def read_ledgers
        ledgers.read.transform_values { |ledger| ledger.with(pid: @pids.pid_of(ledger.pid) || 0) }
      end

      # @return [Array<Hash{Symbol => Object}>] what its living processes tell of their pools, by worker
      # @raise [Silent] where one of them tells nothing
      # @raise [UsageError] of a server that may not be resized
      def states
        told = told().reject { |path, state| state.nil? && !@told.key?(path) && age_s(path) > NEVER_TELLS_S }
        states = told.values
        if states.none? && !told.keys.intersect?(@told.keys)
          raise UsageError, "the server #{leader_pid} does not allow it, or is still booting. #{HOW}"
        end
        @told.update(told.compact)
        raise Silent, silence if states.include?(nil)
        unless states.all? { |one| one[:format] == Probe::Resize::FORMAT }
          raise UsageError, "the server #{leader_pid} runs another version of puma_tuner-probe; " \
            "restart it with this one"
        end
        never = states.find { |one| one[:configured].nil? && one[:why_not] }
        raise UsageError, "the server #{leader_pid} can't be resized: #{never[:why_not]}" if never
        states.sort_by { |one| one[:worker_index] || -1 }
      end

      # Waits for processes that boot.
      #
      # @return [Array<Hash{Symbol => Object}>] see #states
      # @raise [UsageError] of a server that may not be resized
      def ready_states = within(BOOT_S) { states }

      # Has all processes tell of themselves now, by an order that changes nothing. Without one they are silent, so that
      # what there is may be as old as they are: of before the app had its connections, and before all errors since.
      #
      # @return [Array<Hash{Symbol => Object}>] see #states
      # @raise [UsageError] of a server that may not be resized, or while another trial of it is under way
      # @raise [MeasurementFailed] see #order
      def fresh_states
        ready_states
        hold do
          since_ns = Clock.now_ns
          within(TELL_S) do
            order({})
            states.each { |one| raise Silent, silence unless one[:told_at_ns].to_i > since_ns }
          end
        end
      end

      # @return [Float] seconds, age of its youngest process that tells of its threads
      def youngest_s = told.compact.each_key.map { |path| age_s(path) }.min || 0.0

      # Holds the server for this controller alone, and lets go of all that was ordered when the block ends, however it
      # does.
      #
      # @yield
      # @raise [UsageError] while another one has it
      def hold
        File.open(File.join(@directory, "resize.lock"), File::RDWR | File::CREAT | File::NOFOLLOW, 0o600) do |file|
          unless file.flock(File::LOCK_EX | File::LOCK_NB)
            raise UsageError, "another trial of the server #{leader_pid} is under way"
          end
          give_to_owner(file)
          @lock_file = file
          begin
            yield
          ensure
            release
          end
        end
      end

      # For a process that is forked meanwhile: what it inherits would hold the server when this one has been killed.
      # @return [void]
      def close_lock = @lock_file&.close

      # @param threads [Hash{Integer => Integer}] by process, for LEASE_S; all others get what is configured
      # @return [void]
      # @raise [Gone]
      # @raise [MeasurementFailed] when its folder has no place
      def order(threads)
        Probe::Resize::Order.new(controller: Probe::Processes.identity(Process.pid), threads:,
          expires_at_ns: Clock.now_ns + LEASE_S * Units::NS_PER_S).write(@directory)
      rescue Errno::ENOENT
        raise Gone, "the server #{leader_pid} has ended" unless there?
        raise Gone, "#{@directory}, the folder of the server #{leader_pid}, was removed; its processes have what is " \
          "configured. Start it anew"
      rescue SystemCallError => error
        raise MeasurementFailed, "the server #{leader_pid} can't be given an order: #{error.message}. " \
          "Its processes have what is configured"
      end

      # Every process gets what is configured.
      def release
        File.unlink(File.join(@directory, Probe::Resize::ORDER))
      rescue Errno::ENOENT
        nil
      end

      # Counts anew from the next reading on, which is another trial's.
      # @return [void]
      def forget
        @since_s = nil
        @before = {}
      end

      # @param at_s [Numeric] when, since the trial began
      # @return [Reading] of what was done since the last one
      def take(at_s)
        since_s, @since_s = @since_s || at_s, at_s
        now = ledgers.read { |path| read(path) }
        workers = now.filter_map { |path, ledger| worker(path, ledger) }
        @before = now.to_h { |path, ledger| [path, [ledger, @told[path]]] }
        Reading.new(at_s:, since_s:, workers: workers.sort_by { |one| one.worker_index || -1 }.freeze,
          memory_bytes: memory_in_use)
      end

      # @return [Integer, nil] of the control group that the server runs in
      def memory_limit_bytes = @memory_limit_bytes ||= Probe::ControlGroup.of(leader_pid).memory_limit_bytes

      # @return [Integer, nil] PSS of a process, by its own id; nil of one that can't be seen
      def memory_bytes(pid)
        at_s, bytes = @memory[pid]
        return bytes if at_s && Clock.now_s - at_s < MEMORY_FRESH_S
        here = @pids.pid_of(pid)
        bytes = Probe::Processes.memory(here)[:pss_bytes] if here
        @memory[pid] = [Clock.now_s, bytes]
        bytes
      end

      # @return [Integer] PSS of all its processes
      # @param pids [Array<Integer>] of those that serve, by their own ids
      def all_memory_bytes(pids)
        leads = Probe::Processes.memory(leader_pid)[:pss_bytes].to_i unless pids.any? { |pid| leads?(pid) }
        leads.to_i + pids.sum { |pid| memory_bytes(pid).to_i }
      end

      private

      def silence
        "a process of the server #{leader_pid} boots, or can't write what it tells; wait until it serves"
      end

      def within(seconds)
        deadline_s = Clock.now_s + seconds
        begin
          yield
        rescue UsageError
          raise if Clock.now_s > deadline_s
          sleep(0.2)
          retry
        end
      end

      def leads?(pid) = @pids.pid_of(pid) == leader_pid

      # Where root tries on somebody else's server, that somebody may do so, too.
      def give_to_owner(file)
        folder = File.stat(@directory)
        file.chown(folder.uid, folder.gid) if Process.uid.zero? && file.stat.uid != folder.uid
      end

      # A ledger's name has the time of its beginning; 0 where it has not.
      def age_s(path)
        began_ns = File.basename(path)[/-(\d+)/, 1] or return 0.0
        Process.clock_gettime(Process::CLOCK_REALTIME) - began_ns.to_i.fdiv(Units::NS_PER_S)
      end

      # @return [Hash{String => Hash, nil}] what each living process tells, by its ledger's path
      def told
        ledgers.paths.reject { |path| ledgers.ended?(path) }.to_h { |path| [path, Probe::Resize.state(path)] }
      end

      def read(path)
        return if !path.end_with?(".ledger") || ledgers.ended?(path)
        File.open(path, File::RDONLY | File::NOFOLLOW, binmode: true) do |file|
          LedgerReader.new(file).ledger(traced: false, kind: :request)
        end
      rescue Errno::ENOENT
        nil
      end

      # What a process that tells nothing has for threads is unknown: none of its looks count.
      def worker(path, ledger)
        told = Probe::Resize.state(path) || @told[path]&.merge(SILENT)
        pool = told && told[:pool] or return
        before, told_before = @before[path]
        @told[path] = told
        gained = gained(ledger, before)
        WorkerReading.new(pid: told[:pid], worker_index: told[:worker_index], threads_count: pool[:max_count],
          **pool.slice(:spawned_count, :live_count, :waiting_count, :queued_count), why_not: told[:why_not],
          errors_count: errors_count(told, told_before), **gained,
          cpu_ns: before && ledger.process_cpu_ns - before.process_cpu_ns, memory_bytes: memory_bytes(told[:pid]))
      end

      # After it was silent, those of all the time that it was are not this look's.
      def errors_count(told, told_before)
        return 0 if told_before.nil? || told_before[:why_not] == SILENT[:why_not]
        told[:errors_count] - told_before[:errors_count]
      end

      # The first look at a process counts nothing.
      def gained(ledger, before)
        return {endpoints: {}.freeze, parts_ns: {}.freeze} unless before
        entries = ledger.entries.each_value.filter_map do |entry|
          earlier = before.entries[[:request, entry.name]]
          gain = earlier ? entry - earlier : entry
          gain if gain.counts.first.positive?
        end
        {endpoints: entries.to_h { |entry| [entry.name, entry.histograms.first] }.freeze,
         parts_ns: Probe::Parts::SUMS.each_with_index.to_h { |part, place|
           [part.name, entries.sum { |entry| entry.sums[place] }]
         }.freeze}
      end

      # The file cache, which the group's own figure includes, is given back when memory gets short.
      def memory_in_use
        return unless memory_limit_bytes
        pids = @told.slice(*@before.keys).values.map { |told| told[:pid] }
        all_memory_bytes(pids)
      end
    end
  end
end
