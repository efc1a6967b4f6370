# frozen_string_literal: true

module PumaTuner
  module Profile
    # The cost of one method, in the profile's unit.
    #
    # path: of its file, nil of one written in C; line: where it begins, nil where unknown
    # self_amount: in its own code; total_amount: with all that it called, counted once however deep it recurs
    # calls_count: how often it was called, nil of a profiler that samples
    # callers: {name => calls_count} of who called it, the most frequent first; empty where unknown
    # repeated_count: of its calls, those that got what an earlier one had got, and gave the same; nil where inputs were
    #   not looked at
    MethodCost = Document.define(:name, :path, :line, :self_amount, :total_amount, :calls_count, :callers,
      :repeated_count, added: {repeated_count: nil})

    # Objects of one class that one line made.
    #
    # bytes and the retained fields: nil where the profiler does not tell; retained: still there at the end
    AllocationSite = Document.define(:class_name, :path, :line, :objects_count, :bytes, :retained_objects_count,
      :retained_bytes)

    # What one layer of a process took, by itself. name: one of Layers::NAMES
    Layer = Document.define(:name, :amount)

    # A known pattern that the counts show.
    #
    # rule: its name; share_ratio: of the profile's amount that is at stake, nil where calls alone are known
    # evidence, cure: sentences; proof: how to find out whether the cure brings something
    Hint = Document.define(:rule, :title, :share_ratio, :evidence, :cure, :proof)

    # The costs by method: which methods something went to.
    #
    # profiler, mode: what was asked for, such as vernier's wall; unit: "ns", "objects", "bytes" or "events"
    # target: what was looked at, in words
    # methods: dearest by itself first; tree: who called whom, as a list from the root on, each before what it called,
    #   dearest first: [depth, place in methods, self_amount, total_amount]. The root's place is nil; what is too small
    #   for a picture is summed up under place -1. (A nested one would be as deep as the app's stack, which JSON does
    #   not bear.)
    # total_amount: of all stacks that count, or of all objects, of a profiler that notes these without stacks;
    #   left_out_amount: of stacks that wait for work, or are not asked about
    # samples_count: nil of a profiler that follows every call; interval_ns:
    #   between samples, the mean where files have several; lost_count: samples that it could not take
    # work_count: requests or iterations that it was about, nil where nobody counted; work_noun: what they are
    # files: the profiler's own, for its own viewer; viewer: how to look at them
    # unknown: an Unknown each; gems: Hash, versions of those loaded, by name; empty where nobody could be asked
    # layers: from the app's methods down to the kernel; empty of profilers that look at Ruby alone
    Costs = Document.define(:profiler, :profiler_version, :mode, :unit, :target, :methods, :tree, :allocations, :hints,
      :total_amount, :left_out_amount, :samples_count, :interval_ns, :lost_count, :duration_ns, :work_count, :work_noun,
      :files, :viewer, :machine, :command, :recorded_at, :unknown, :gems, :layers, kind: :profile,
      added: {gems: {}, layers: []},
      nested: {methods: [MethodCost], allocations: [AllocationSite], hints: [Hint], layers: [Layer],
               machine: Probe::MachineFacts, unknown: [Unknown]}) do
      # @return [Boolean] whether every call was followed, and amounts are no estimates
      def traced? = samples_count.nil?

      # @param amount [Numeric] of total_amount
      # @return [Float, nil] 0..1
      def share_ratio(amount) = (amount.fdiv(total_amount) if total_amount.positive?)

      # @param amount [Numeric]
      # @return [Float, nil] samples that it stands for
      def samples_of(amount)
        amount.fdiv(total_amount) * samples_count if samples_count&.positive? && total_amount.positive?
      end

      # @param number [Numeric, nil] an amount or a count of the whole
      # @return [Float, nil] of one request or iteration
      def per_work(number) = (number.fdiv(work_count) if number && work_count&.positive?)

      # Returns what sampling leaves open of a share: Wilson's interval, from E. B. Wilson, Journal of the American
      # Statistical Association 22 (1927), 209-212. It treats samples as independent, which those of one long request
      # are not.
      #
      # @param amount [Numeric] in the profile's unit
      # @return [Stats::Estimate, nil] nil of a profiler that follows every call
      def share(amount)
        count = samples_of(amount) or return
        Stats::Wilson.interval(count, samples_count)
      end
    end
  end
end
