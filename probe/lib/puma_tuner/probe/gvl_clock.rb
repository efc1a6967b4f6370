# frozen_string_literal: true

module PumaTuner
  module Probe
    # Measures how long each thread has the GVL, wants it, and does without. Where the extension is available, it
    # replaces the methods below; elsewhere they answer that they know nothing, and `why_not` says why.
    module GvlClock
      class << self
        # @return [String, nil] the table of the parts of time, as Parts reads it; nil without the extension
        def parts = nil

        # @return [Hash{Symbol => Integer, Array<Symbol>}] where everything is in a ledger's file, see Ledger; empty
        #   without the extension
        def layout = {}.freeze

        # Puts the hook in, which does nothing before `start`. In the process that forks those which are watched: see
        # OtherHooks.
        # @return [Boolean] whether it is there; false where Ruby refuses it
        def install = false

        # @return [String, nil] how Ruby refused what the hook needs when it was last to be put in; nil: it did not
        def refusal = nil

        # @return [Boolean] whether it is there, also in the child of a process that has put it in
        def installed? = false

        # Starts the clock for all threads of this process, those of other Ractors apart; once more after a fork, in the
        # child. Takes some milliseconds, and never lets go of the GVL.
        # @return [Boolean] whether it runs
        def start = false

        # Tells whether the threads that serve requests wait on no connection between two of them: see Puma.looks_only?.
        # @param only [Boolean] false until it is told
        def looks_only=(only)
        end

        # @param folder [String]
        # @return [Integer, nil] how many bytes its file system holds in all
        def place_bytes(folder) = nil

        # Makes the file in which requests are recorded from now on (see Ledger).
        # @param path [String] of a file that is not there yet
        # @param facts [String] JSON, up to 3,500 bytes
        # @param bytes_max [Integer, nil] what it may take of its place: endpoints beyond count as "(other)", and fewer
        #   traces are kept; nil: as much as it wants
        # @return [String, nil] why it could not be made; nil when it was
        def open_ledger(path, facts, bytes_max = nil) = nil

        # @param kind [Integer] a place in Ledger::KINDS
        # @param name [String]
        # @return [Integer] the number of the ledger's entry of that name, for request_end
        def entry(kind, name) = 0

        # Marks that this thread now serves a request, for which it may have been woken a while ago.
        #
        # @param from_list [Boolean] whether it comes from Puma's todo list, where it lay while a thread that had no
        #   time to rest did other things; else the thread goes on with the connection that it has just served
        # @return [Boolean] false when it does already
        def request_begin(from_list = false) = false

        # The same for work that begins here and now.
        # @return [Boolean] false when a request or job is under way
        def job_begin = false

        # Marks the end of the request or job, and records it.
        # @param entry [Integer]
        # @param queued_ns [Integer, nil] when Puma put it on its list, by now_ns; nil when it never did
        # @param before_puma_ns [Integer, nil] how long it was under way before that
        # @return [Boolean] false when there was none
        def request_end(entry, queued_ns, before_puma_ns) = false

        # The same without recording it.
        # @param with_trace [Boolean]
        # @return [Array(Array<Integer>, Array<Integer>), nil] Parts::TAKEN; and the steps, number of the kind
        #   (Parts::CODES) and nanoseconds in turn
        def request_take(with_trace) = nil

        # The same, and forgets it.
        def discard = false

        # Brings the ledger up to date, as happens by itself once a second while there are requests.
        def sweep = nil

        # @return [Integer] nanoseconds, by the clock of the hooks; compares with nothing else
        def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

        # @return [Integer] by the same clock, when this thread asked for the GVL that it now has
        def woken_ns = now_ns

        # Marks that this thread is inside a connection pool's checkout, where
        # waiting for a lock is waiting for the pool.
        # @param begins [Boolean]
        # @return [Boolean] whether it was before
        def checkout(begins) = false

        # Watches the Mutexes, Monitors and pools of this process from here on,
        # into its ledger; once more for each ledger.
        # @return [Boolean] false when it can't
        def watch_locks = false

        # Marks that this thread tries to get a connection of a pool. Nothing, unless locks are watched.
        # @param pool [Object]
        def pool_tried(pool) = nil

        # @param pool [Object]
        # @param connections_count [Integer, nil] how many the pool has at most; nil: this thread has got none
        def pool_got(pool, connections_count) = nil

        # @param pool [Object]
        def pool_returned(pool) = nil

        # Marks that this thread is inside a library whose IO is of one kind, whatever object waits for it.
        # @param kind [Integer] of Parts::CODES; 0 where no library says so
        # @return [Integer] what it was before
        def scope(kind) = 0

        # Names a class whose methods release the GVL for one thing only.
        # @param kind [Integer] of Parts::CODES
        # @return [Boolean] false when there is no place for more
        def attribute(receiver_class, kind) = false

        # @param thread [Thread]
        # @return [Array<Integer>, nil] Parts::TOTALS of the thread since it began, or since the clock was started, up
        #   to when it last took the GVL
        def totals(thread) = nil

        # @return [Integer] threads that found no place (there are 1,024), or belong to other Ractors
        def unobserved_threads_count = 0

        # @return [Integer] nanoseconds that being watched adds to a release and re-acquisition of the GVL, timed here
        #   when the clock was started
        def cost_per_cycle_ns = 0

        # @param ns [Integer] what recording adds to a request
        def cost_per_request_ns=(ns)
        end

        # Adds numbers to others, in place. Ruby takes fifty times as long,
        # which counts where a server has many ledgers to add up.
        # @param sums [String] packed as in a ledger: unsigned, of 64 bits each
        # @param numbers [String] as many
        # @return [String] the sums
        # @raise [ArgumentError] of more or fewer numbers
        def add(sums, numbers)
          raise ArgumentError, "not as many numbers" if sums.bytesize != numbers.bytesize
          sums.replace(sums.unpack("Q*").zip(numbers.unpack("Q*")).map(&:sum).pack("Q*"))
        end

        # @return [String, nil] why there is no clock; nil when there is
        attr_reader :why_not

        def available? = why_not.nil?

        private

        def load_extension
          if ENV["RUBY_MN_THREADS"].to_i.positive? # as Ruby itself reads it
            return @why_not = "RUBY_MN_THREADS is set, and with it a thread is no longer one thread of the system"
          end
          Probe::Extension.load
          @why_not = nil
        rescue LoadError => error
          message = error.message.lines.first.strip
          @why_not = if Probe::Extension.there?
            "the extension does not load here: #{message}"
          else
            "the extension is not there for #{RUBY_ENGINE} #{RUBY_VERSION} (#{message}); " \
              "it needs CRuby 3.3 or newer on Linux, and a compiler when the gem is installed"
          end
        end
      end

      # A redefinition by the extension is what is wanted here, not a mistake.
      verbose, $VERBOSE = $VERBOSE, nil
      load_extension
      $VERBOSE = verbose
    end
  end
end
