# frozen_string_literal: true

module PumaTuner
  module Probe
    # Orders lanes of a process, and reads them, by its ledger (ext/puma_tuner_probe/lanes.c, which records them).
    class LaneReader
      # So long is recorded where nobody says otherwise: some requests of each thread of a busy server.
      USUAL_NS = 2_000_000_000

      # After its end a hook may still be writing what it has begun to.
      MARGIN_NS = 5_000_000

      LAYOUT = Ledger::LAYOUT
      names = ->(list) { [nil, *LAYOUT.fetch(list, []).map(&:downcase)].freeze }
      RECORD_KINDS = names.call(:lane_record_kinds)
      STATES = names.call(:lane_states)

      # One of lanes.c's records. number: see ledger.h
      Record = Data.define(:kind, :part, :lane, :number, :from_ns, :ready_ns, :until_ns)

      # As Puma names those of its pool.
      POOL_THREAD = /\Apuma .*\btp \d/

      # As struct ledger_lane_record has it.
      RECORD = "CCSLQQQ"
      private_constant :POOL_THREAD, :RECORD

      class << self
        # Has the process record from the end of its next request on.
        #
        # @param path [String] of its ledger
        # @param duration_ns [Integer] up to a minute
        def order(path, duration_ns = USUAL_NS)
          Ledger.change(path) do |file|
            # No order has the number of another.
            order = Clock.now_ns
            file.pwrite([duration_ns, order].pack("QQ"), LAYOUT[:lanes_wanted_offset])
          end
        end

        # @param paths [Array<String>] of the ledgers of one server
        # @return [Array<LaneReader>] of those that have recorded any
        def of(paths) = paths.reject { |path| path.end_with?(".json") }.map { |path| new(path) }.select(&:any?)

        # @param paths [Array<String>] of the ledgers of one server
        # @return [Array<ProcessLanes>] of those that have recorded any
        def read_all(paths)
          readers = of(paths)
          first_ns = readers.map(&:began_at_ns).min
          readers.map { |reader| reader.lanes(first_ns) }
        end
      end

      # @param path [String] of a ledger
      def initialize(path)
        File.open(path, "rb") { |file| read(file) }
      rescue Errno::ENOENT, InvalidDocument # folded meanwhile, or another version's
        @head = nil
      end

      # @return [Boolean] whether the last order has been followed
      def any? = !@head.nil? && @head[:began_ns].positive? && @head[:order] == @order

      # @return [Integer] when it began, by CLOCK_MONOTONIC
      def began_at_ns = @head[:began_at_ns]

      # @return [Integer] nanoseconds until all of it is there
      def left_ns
        ends_at_ns = began_at_ns + @head[:until_ns] - @head[:began_ns] + MARGIN_NS
        @head[:full_ns].positive? ? 0 : [ends_at_ns - Clock.now_ns, 0].max
      end

      # @param first_ns [Integer] when the first process of the server began
      # @return [ProcessLanes]
      def lanes(first_ns = began_at_ns)
        records = @records.group_by(&:lane)
        lanes = @states.each_index.flat_map { |slot| threads(slot, records.fetch(slot, [])) }
        ProcessLanes.new(worker_index: @facts["worker_index"], pid: @pid, from_ns: began_at_ns - first_ns, duration_ns:,
          full: @head[:full_ns].positive?, works: works.freeze,
          lanes: lanes.sort_by { |lane| [lane.serves_requests ? 0 : 1, lane.name.to_s, lane.from_ns] }.freeze)
      end

      private

      def read(file)
        reader = Ledger::Reader.new(file)
        @pid, @order, @facts, @names = reader.identity || return
        offset = LAYOUT[:lanes_offset]
        @read_at_ns = Clock.now_ns
        bytes = file.pread(LAYOUT[:lane_records_offset], offset)
        @head = reader.fields(:lanes, bytes)
        @states = Array.new(LAYOUT[:lanes_max]) { |slot| state(reader, bytes, slot) }
        count = [@head[:records_count], LAYOUT[:lane_records_max]].min
        size = LAYOUT[:lane_record_bytes]
        bytes = count.zero? ? "" : file.pread(count * size, offset + LAYOUT[:lane_records_offset])
        @records = Array.new(bytes.bytesize / size) { |index| record(bytes, index * size) }.compact
      rescue EOFError, *Ledger::Reader::DAMAGES
        @head = nil
      end

      def state(reader, bytes, slot)
        bytes = bytes.byteslice(LAYOUT[:first_lane_offset] + slot * LAYOUT[:lane_bytes], LAYOUT[:lane_bytes])
        {**reader.fields(:lane, bytes), name: reader.text(bytes, LAYOUT[:lane_name_offset], LAYOUT[:lane_name_bytes])}
      end

      # One whose kind is 0 is being written.
      def record(bytes, offset)
        kind, part, *rest = bytes.unpack(RECORD, offset:)
        Parts::STEPS.fetch(part)
        Record.new(RECORD_KINDS.fetch(kind), part, *rest) if kind.positive?
      end

      # @return [Integer] of what is known of all threads: up to when it was read, if it was not over then
      def duration_ns
        ends_ns = @head[:full_ns].positive? ? [@head[:full_ns], @head[:until_ns]].min : @head[:until_ns]
        [ends_ns - @head[:began_ns], @read_at_ns - began_at_ns].min
      end

      # A slot serves one thread after the other.
      # @return [Array<Lane>]
      def threads(slot, records)
        changes, others = records.sort_by(&:until_ns).partition { |record| %i[cycle new ended].include?(record.kind) }
        lives = changes.slice_after { |record| record.kind == :ended }.to_a
        lives << [] if lives.empty? || lives.last.last.kind == :ended
        lives.filter_map { |life| thread(slot, life, others) }
      end

      # @param changes [Array<Record>] of the thread's life
      # @param others [Array<Record>] of all threads that the slot has served
      def thread(slot, changes, others)
        ended = changes.last&.kind == :ended
        state = @states[slot]
        resting = STATES[state[:state]] if state[:state] < STATES.size
        return if changes.empty? && resting.nil?
        from_ns = (changes.first&.kind == :new) ? changes.first.ready_ns : @head[:began_ns]
        to_ns = ended ? changes.last.until_ns : @head[:began_ns] + duration_ns
        own = others.select { |record| record.until_ns.between?(from_ns, to_ns) }
        name = ended ? ended_name(changes.last.number) : state[:name]
        collected, worked = own.partition { |record| record.kind == :collected }
        Life.new(from_ns, to_ns, collected, began_ns: @head[:began_ns]).then do |life|
          changes.each { |record| life.public_send(record.kind, record) }
          life.still(resting, state) unless ended
          Lane.new(name: (name unless name.to_s.empty?), serves_requests: name.to_s.match?(POOL_THREAD),
            from_ns: from_ns - @head[:began_ns], steps: life.steps.freeze, short_gc_ns: life.short_gc_ns,
            works: worked.flat_map { |record| work(record) }.freeze)
        end
      end

      # As far as the ledger has it: of threads that serve no requests without numbers.
      def ended_name(entry)
        kind, name = named(entry)
        name unless kind == :special
      end

      # @return [Array(Symbol, String), nil] kind and name of an entry; nil of one that there is not
      def named(entry) = (@names[entry] if entry < @names.size)

      def works = @works ||= []

      def work(record)
        name = named(record.number)&.last || "(other)"
        works << name unless works.include?(name)
        [works.index(name), record.from_ns - @head[:began_ns], record.until_ns - record.from_ns]
      end

      # One thread's steps, put together of its records in their order.
      class Life
        # @return [Array] alternating kind and nanoseconds
        attr_reader :steps

        # @return [Integer] garbage collection in stretches that have no record
        attr_reader :short_gc_ns

        # @param from_ns [Integer] when the thread is first known of
        # @param to_ns [Integer] when it is known no more
        # @param collected [Array<Record>] its garbage collections in their order
        def initialize(from_ns, to_ns, collected, began_ns:)
          @at_ns, @to_ns, @collected, @began_ns = from_ns, to_ns, collected.dup, began_ns
          @short_gc_ns = 0
          @steps = []
        end

        # A hold, a release and the wait for the GVL after it.
        def cycle(record)
          hold_until(record.from_ns, record.number)
          add(Parts::STEPS.fetch(record.part), record.ready_ns)
          add("gvl_wait", record.until_ns)
        end

        def new(record) = add("gvl_wait", record.until_ns)

        # What lies between its last release and its end is the way out.
        def ended(record)
          hold_until((Parts::STEPS.fetch(record.part) == "held") ? record.until_ns : record.from_ns)
        end

        # What the thread did when the recording ended.
        # @param state [Symbol, nil] of STATES
        # @param lane [Hash] its stamps
        def still(state, lane)
          return hold_until(@to_ns) unless state == :released
          hold_until(lane[:since_ns])
          ready_ns = lane[:ready_ns]
          add(lane[:in_request].zero? ? "idle" : Lane::OPEN, ready_ns.positive? ? ready_ns : @to_ns)
          add("gvl_wait", @to_ns)
        end

        private

        # @param gc_ns [Integer] of the hold; 0: of which that is not known
        def hold_until(to_ns, gc_ns = 0)
          while @collected.any? && @collected.first.until_ns <= to_ns
            one = @collected.shift
            add("held", one.from_ns)
            add(Lane::GC, one.until_ns)
            gc_ns -= one.until_ns - one.from_ns
          end
          @short_gc_ns += gc_ns if gc_ns.positive?
          add("held", to_ns)
        end

        def add(kind, to_ns)
          to_ns = [to_ns, @to_ns].min
          return if to_ns <= @at_ns
          ns = to_ns - @at_ns
          @at_ns = to_ns
          (@steps[-2] == kind) ? @steps[-1] += ns : @steps.push(kind, ns)
        end
      end
      private_constant :Life
    end
  end
end
