# frozen_string_literal: true

module PumaTuner
  module Top
    # Tells of a window's requests, as Statements, what holds them up, and where nothing does, what their time is spent
    # on. Report::TopWords has the words.
    module Diagnosis
      # What a request need not wait for, and the kind of Statement that says so.
      HINDRANCES = {gvl_wait: :gvl, queue: :threads, preempted: :cores, lock: :lock, gc: :gc}.freeze

      # Of the wall time: a hindrance of less is not what the time goes to. A judgement.
      LEAST_RATIO = 0.2

      # What is named beside a hindrance is its greater part.
      MOST_OF = 0.5

      module_function

      # @param endpoints [Array<Probe::EndpointObservation>]
      # @param threads_count [Integer, nil] of each worker
      # @return [Statement] :idle, :unknown, one of HINDRANCES', :pool, :io or :cpu. Facts: ratio, of the wall time;
      #   wait_ns, in a mean request; endpoint, where that is longest in all; holder and holder_kind, as in a Blame, and
      #   made_ns, how long that made a mean one of all others wait; part, such as "db"; threads_count
      def of(endpoints, threads_count: nil)
        return Statement.of(:idle) if endpoints.empty?
        budget = endpoints.map(&:budget).reduce(:+)
        return Statement.of(:unknown) if unknown?(budget)
        kind, part, ratio = held_up(budget) || spent(budget)
        requests_count = endpoints.sum(&:requests_count)
        worst = endpoints.max_by { |one| one.budget.part_ns(part).to_i }
        facts = {ratio:, wait_ns: budget.part_ns(part).fdiv(requests_count), endpoint: worst.name}
        facts[:threads_count] = threads_count if kind == :threads
        facts.merge!(holder(endpoints)) if kind == :gvl
        facts[:part] = inside(budget, part) if kind == :io
        Statement.of(kind, **facts)
      end

      # @param work [Probe::EndpointObservation] an endpoint, or a kind of job
      # @return [Statement, nil] the same of one alone, with its greatest holder; nil where parts are unknown
      def cause(work)
        return if unknown?(work.budget)
        kind, part, ratio = held_up(work.budget) || spent(work.budget)
        facts = {ratio:, wait_ns: work.budget.part_ns(part).fdiv(work.requests_count)}
        blame = work.blame.first if kind == :gvl
        facts.update(holder: blame.holder, holder_kind: blame.kind) if blame
        facts[:part] = inside(work.budget, part) if kind == :io
        Statement.of(kind, **facts)
      end

      def unknown?(budget) = budget.gvl_wait_ns.nil? || !budget.wall_ns.positive?

      # @return [Array(Symbol, Symbol, Float), nil] kind, part and its share
      def held_up(budget)
        part, ratio = ratios(budget, HINDRANCES.keys).max_by(&:last)
        return if ratio < LEAST_RATIO
        pool = part == :lock && budget.pool_ns.to_i > budget.lock_ns * MOST_OF
        pool ? [:pool, :pool, budget.share_ratio(:pool)] : [HINDRANCES.fetch(part), part, ratio]
      end

      def spent(budget)
        part, ratio = ratios(budget, %i[cpu io sleep]).max_by(&:last)
        [(part == :cpu) ? :cpu : :io, part, ratio]
      end

      def ratios(budget, parts) = parts.map { |part| [part, budget.share_ratio(part) || 0.0] }

      # @return [String] what io is for, where most of it is of one kind; else the part itself
      def inside(budget, part)
        return part.name unless part == :io
        most = Probe::Parts::ALL.select { |one| one.of == :io }.max_by { |one| budget.part_ns(one.name).to_i }
        (budget.part_ns(most.name).to_i > budget.io_ns * MOST_OF) ? most.name.name : part.name
      end

      # Who made the others wait longest for the GVL. Of an endpoint that waits for itself alone there are no others.
      #
      # @return [Hash] nothing where nobody is known
      def holder(endpoints)
        sums = endpoints.flat_map(&:blame).group_by { |blame| [blame.kind, blame.holder] }
          .transform_values { |blames| blames.sum(&:wait_ns) }
        (kind, name), = sums.max_by(&:last)
        return {} unless name
        others = endpoints.reject { |one| kind == "request" && one.name == name }
        others = endpoints if others.empty?
        made = others.flat_map(&:blame).select { |blame| blame.kind == kind && blame.holder == name }
        {holder: name, holder_kind: kind, made_ns: made.sum(&:wait_ns).fdiv(others.sum(&:requests_count))}
      end

      private_class_method :unknown?, :held_up, :spent, :ratios, :inside, :holder
    end
  end
end
