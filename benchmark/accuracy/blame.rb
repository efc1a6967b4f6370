# frozen_string_literal: true

require "json"

module Accuracy
  # Who held the GVL, where that is known.
  module Blame
    # The endpoint whose waits are looked at.
    WAITING = "/wait"

    # Who holds the GVL while it waits, in the page's order.
    module Scenarios
      # paths: a client asks each over and over; background: whether a thread computes beside them; holders: whose shares are known
      Entry = Data.define(:name, :title, :paths, :background, :holders)

      ALL = [
        Entry.new(name: "computes", title: "an endpoint that computes 40 ms and waits for nothing", paths: %w[/wait /compute],
          background: false, holders: ["GET /compute"]),
        Entry.new(name: "tail", title: "an endpoint that sleeps 20 ms, then computes 40 ms up to its end", paths: %w[/wait /tail],
          background: false, holders: ["GET /tail"]),
        Entry.new(name: "background", title: "a thread that computes 30 ms, then sleeps 20 ms", paths: %w[/wait],
          background: true, holders: ["importer"]),
        Entry.new(name: "collector", title: "an endpoint that computes 20 ms, then collects garbage", paths: %w[/wait /collect],
          background: false, holders: ["GET /collect", "(gc)"]),
        Entry.new(name: "several", title: "three endpoints and the thread, all at once", paths: %w[/wait /compute /tail /short],
          background: true, holders: ["GET /compute", "GET /tail", "GET /short", "importer"])
      ].freeze

      NAMES = ALL.map(&:name).freeze

      # @return [Entry]
      def self.entry(name) = ALL.find { |entry| entry.name == name } || raise(KeyError, "no scenario #{name}")
    end
  end

  module Blame
    # What an app can know of the GVL by CLOCK_MONOTONIC alone: from when to when each of its threads computed without
    # releasing it, and from when a sleeper should have gone on to when it did. Shares no code with the probe.
    #
    # Holds don't overlap, as long as no time slice ends in one: it is set longer than any of them.
    class Stamps
      # The waits of one request.
      class Waits
        # @return [Array<Array(Integer, Integer)>] due and done
        attr_reader :all

        def initialize
          @all = []
        end

        def sleep_ns(ns)
          due_ns = Stamps.now_ns + ns
          sleep(ns / 1e9)
          @all << [due_ns, Stamps.now_ns]
        end
      end

      def self.now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

      def initialize
        @holds = []
        @waits = []
      end

      # @param name [String] as the probe will call whoever does the block
      # @return [true]
      def hold(name)
        from_ns = Stamps.now_ns
        yield
        @holds << [name, from_ns, Stamps.now_ns]
        true
      end

      # They count once the request has ended, as in the probe.
      #
      # @yieldparam waits [Waits]
      def waits_of_a_request
        waits = Waits.new
        yield waits
        @waits.concat(waits.all)
      end

      # @return [Hash] waited_ns: in all, until the sleeper went on; held: name => of it, while that one computed
      def to_h
        {waited_ns: @waits.sum { |due_ns, done_ns| done_ns - due_ns },
         held: @holds.group_by(&:first).transform_values { |holds| holds.sum { |_, from_ns, to_ns| waited_ns(from_ns, to_ns) } }}
      end

      private

      # @return [Integer] how long the sleeper waited between two instants
      def waited_ns(from_ns, to_ns)
        @waits.sum { |due_ns, done_ns| [[done_ns, to_ns].min - [due_ns, from_ns].max, 0].max }
      end
    end
  end

  module Blame
    # Shares of a wait for the GVL, of one run: what is known and what the probe said. Pure.
    #
    # known, reported: holder => percent of the wait
    # doubt_percent: how far what is known may be off. There is a part of the wait in which no stamp says that anybody computed: the
    #   timer, a core that wakes up, the way from one thread to the next, Puma. A holder's true share lies between what its stamps
    #   cover and that with all of this part on top; known is the middle, doubt the way to either end
    Sample = Data.define(:known, :reported, :doubt_percent) do
      # @param text [String] JSON of a child
      # @param holders [Array<String>] whose shares are known
      # @return [Sample]
      def self.parse(text, holders:)
        said = JSON.parse(text)
        covered = shares(said.fetch("held"), said.fetch("waited_ns"), holders)
        doubt_percent = (100 - covered.values.sum).abs / 2
        new(known: covered.transform_values { |percent| percent + doubt_percent }, doubt_percent:,
          reported: shares(said.fetch("reported"), said.fetch("gvl_wait_ns"), holders))
      end

      def self.shares(sums_ns, all_ns, holders) = holders.to_h { |holder| [holder, sums_ns.fetch(holder, 0) * 100.0 / all_ns] }
      private_class_method :shares

      # @return [Float] in percentage points
      def error_percent(holder) = reported.fetch(holder) - known.fetch(holder)
    end
  end
end
