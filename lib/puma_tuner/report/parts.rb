# frozen_string_literal: true

module PumaTuner
  module Report
    # The parts of a budget as people are shown them: in the order in which a request meets them, with what each means.
    module Parts
      # of: the Part that it lies in; nil of those that together are the whole
      Part = Data.define(:name, :word, :meaning, :of) do
        # @return [String] of a column
        def heading = of ? "#{word} in #{of.word}" : word
      end

      # Words for the parts that Probe::Parts lists: what a table calls one, and what it means. Of a part that lies in
      # another, the meaning follows a share of that one.
      WORDS = {
        client: ["client", "not sent yet, on its way, or not read yet"],
        queue: ["queue", "in Puma, waiting for a pool thread"],
        gvl_wait: ["gvlwait", "could run, waits for the GVL"],
        preempted: ["preempted", "has the GVL, is not on a core"],
        cpu: ["cpu", "computes, on a core"],
        gc: ["gc", "runs the garbage collector"],
        io: ["io", "waits for a socket, a file or a database"],
        lock: ["lock", "waits for a Mutex, a Queue or a connection pool"],
        sleep: ["sleep", "waits in Kernel#sleep"],
        db: ["db", "for a database"],
        redis: ["redis", "for Redis or memcached"],
        http: ["http", "for another HTTP server"],
        file: ["file", "for files"],
        pool: ["pool", "waiting for a connection pool"],
        gc_waited: ["gc", "while another thread collected garbage"]
      }.freeze

      outer = (WORDS.keys & Probe::Parts::WALL).to_h { |name| [name, Part.new(name, *WORDS[name], nil)] }

      # Those of a simulated request, whose time begins and ends at its client.
      SIMULATED = outer.values.freeze

      # Those of a recorded one.
      ALL = outer.values_at(*(outer.keys & Probe::Parts::REQUEST)).freeze

      # What parts were themselves made of, where it was told apart.
      INSIDE = Probe::Parts::ALL.select(&:of)
        .map { |part| Part.new(part.name, *WORDS.fetch(part.name), outer.fetch(part.of)) }.freeze

      RESIDUAL = Part.new(:residual, "residual", "unaccounted for", nil)

      # Of the wall time; less of a part inside another is not worth a sentence.
      LEAST_INSIDE_RATIO = 0.005

      # Which parts a table needs: seen ones, those below what is printed in all rows, those unknown in all rows.
      Sorted = Data.define(:seen, :unseen, :unknown)

      module_function

      # @param name [Symbol] of a recorded request's part, or :residual
      # @return [Part]
      def named(name) = [*ALL, RESIDUAL].find { |part| part.name == name }

      # Neither threads nor jobs wait in Puma's queue.
      #
      # @return [Array<Part>] with the residual
      def possible(queue: true) = [*ALL, RESIDUAL].reject { |part| part.name == :queue && !queue }

      # @param budget [Probe::Budget]
      # @return [Float, nil]
      def ratio(budget, part)
        return budget.share_ratio(part.name) unless part == RESIDUAL
        budget.residual_ns.fdiv(budget.wall_ns) if budget.wall_ns.positive?
      end

      # @param budgets [Array<Probe::Budget>]
      # @param parts [Array<Part>] to be sorted
      # @return [Sorted]
      def sort(budgets, parts = possible)
        ratios = parts.to_h { |part| [part, budgets.map { |budget| ratio(budget, part) }] }
        unknown = parts.select { |part| ratios[part].all?(&:nil?) }
        seen = (parts - unknown).select do |part|
          ratios[part].any? { |ratio| ratio.nil? || ratio.abs >= ThreadLine::LEAST_PRINTED_RATIO }
        end
        Sorted.new(seen:, unseen: parts - unknown - seen, unknown:)
      end

      # @param parts [Array<Part>] of which
      # @return [Array<Array(Part, Float)>] the largest first, those of a percent and more
      def largest(budget, count, parts = possible)
        parts = parts.filter_map { |part| (ratio = ratio(budget, part)) && [part, ratio] }
        parts.select { |_, ratio| ratio >= 0.01 }.max_by(count, &:last)
      end

      # @param budgets [Array<Probe::Budget>]
      # @return [Array<Part>] inside of others, that one of the budgets has enough of
      def inside(budgets)
        INSIDE.select { |part| budgets.any? { |budget| (budget.share_ratio(part.name) || 0) >= LEAST_INSIDE_RATIO } }
      end

      # @param budget [Probe::Budget]
      # @return [Array<String>] one for each part that has parts inside
      def sentences(budget)
        inside([budget]).group_by(&:of).filter_map do |of, parts|
          whole_ns = budget.part_ns(of.name)
          next unless whole_ns&.positive?
          shares = parts.map { |part| "#{Units.percent(budget.part_ns(part.name).fdiv(whole_ns))} #{part.meaning}" }
          "Of #{of.word}: #{Figures.list(shares)}."
        end
      end

      # What a mean request's io was for, the longest first.
      #
      # @param budget [Probe::Budget] of so many requests
      # @return [String, nil] "db 12.0 ms, http 30.0 ms"; nil where nothing of note is known
      def io(budget, requests_count)
        parts = inside([budget]).select { |part| part.of.name == :io }.sort_by { |part| -budget.part_ns(part.name) }
        return if parts.empty?
        parts.map { |part| "#{part.word} #{Units.duration(budget.part_ns(part.name).fdiv(requests_count))}" }.join(", ")
      end
    end
  end
end
