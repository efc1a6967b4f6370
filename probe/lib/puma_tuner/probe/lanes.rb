# frozen_string_literal: true

module PumaTuner
  module Probe
    # What one thread did when, from one change of state to the next.
    #
    # name: Puma's or the app's; nil where the thread was too young to tell
    # serves_requests: whether it is one of Puma's pool
    # from_ns: when the thread is first known of, since its process began to record
    # steps: alternating kind and nanoseconds, as in a Trace, and whole: up to the thread's end, or the recording's.
    #   Kinds are those of Parts::STEPS ("held" is with the GVL), "gc" (with it, collecting garbage) and "open":
    #   without the GVL in a request, for a reason that is known when it is over, and it was not
    # short_gc_ns: of "held", garbage collection in stretches of less than 10 µs, which are no steps
    # works: requests and jobs that ended meanwhile, three numbers each: the place of its name in the process's works,
    #   when it began, since the process began to record (below 0: before), and nanoseconds up to its end
    Lane = Document.define(:name, :serves_requests, :from_ns, :steps, :short_gc_ns, :works) do
      # Another kind of step than those of a trace.
      const_set(:GC, "gc")
      const_set(:OPEN, "open")

      # @return [Integer] nanoseconds that are known of the thread
      def duration_ns = sums.values.sum

      # @return [Hash{String => Integer}] nanoseconds by kind of step
      def sums
        steps.each_slice(2).with_object(Hash.new(0)) { |(kind, ns), sums| sums[kind] += ns }
      end

      # @yieldparam kind [String]
      # @yieldparam from_ns [Integer] since the process began to record
      # @yieldparam ns [Integer]
      # @return [Enumerator, Array] an Enumerator without a block
      def each_step
        return to_enum(:each_step) unless block_given?
        at_ns = from_ns
        steps.each_slice(2) do |kind, ns|
          yield kind, at_ns, ns
          at_ns += ns
        end
      end
    end

    # The threads of one process.
    #
    # worker_index: nil in single mode; works: names of endpoints and jobs
    # from_ns: when it began to record, since the first process of the server did; duration_ns: for how long
    # full: whether it ended earlier than it should, as there was no more room
    ProcessLanes = Document.define(:worker_index, :pid, :from_ns, :duration_ns, :full, :works, :lanes,
      nested: {lanes: [Lane]}) do
      # Who had the GVL in that span, and for what.
      #
      # @param lane [Lane] that is left out
      # @param from_ns [Integer] since the process began to record
      # @param to_ns [Integer]
      # @return [Array<Array>] Lane, what it served then (nil where that is not known) and nanoseconds; longest first
      def holders(lane, from_ns, to_ns)
        lanes.reject { |other| other.equal?(lane) }.flat_map { |other|
          held = Hash.new(0)
          other.each_step do |kind, at_ns, ns|
            break if at_ns >= to_ns
            next if at_ns + ns <= from_ns || (kind != "held" && kind != Lane::GC)
            began_ns = [at_ns, from_ns].max
            held[work_at(other, began_ns)] += [at_ns + ns, to_ns].min - began_ns
          end
          held.map { |work, ns| [other, work, ns] }
        }.sort_by { |_, _, ns| -ns }
      end

      # @param lane [Lane]
      # @param at_ns [Integer] since the process began to record
      # @return [String, nil] what the thread served at that instant, as far as that had ended when the recording did
      def work_at(lane, at_ns)
        place, = lane.works.each_slice(3).find { |_, began_ns, ns| began_ns <= at_ns && at_ns < began_ns + ns }
        place && works[place]
      end
    end
  end
end
