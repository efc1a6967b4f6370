# frozen_string_literal: true

module PumaTuner
  module Profile
    # One method, or one allocating line, before and after; amounts and counts are of one request or iteration.
    #
    # before, after: nil where it was not seen at all
    # ratio: after over before: exact where every call was followed, else with
    #   what sampling leaves open; nil when one is 0
    # difference: after less before
    # outcome: :cheaper, :dearer, :gone, :new, :same, or :not_shown where sampling can't tell, and where counts are of
    #   work that nobody counted, or of a list that was full
    MethodDiff = Document.define(:name, :path, :before, :after, :difference, :ratio, :outcome, symbols: %i[outcome],
      nested: {ratio: Stats::Estimate})

    # Two profiles by the same profiler and mode, held against each other.
    #
    # before, after: {what: facts of each: "target", "profiler", "work_count",
    #   "samples_count", "total_amount", "recorded_at"}
    # unit: of amounts; per: what they are of: "request", "iteration", or nil when one of both did not count its work,
    #   and amounts are shares of the whole
    # total: of everything; methods: by what each took itself; calls: by how often each was called (empty unless both
    #   followed every call); allocations: by class and line
    CostDiff = Document.define(:before, :after, :unit, :per, :total, :methods, :calls, :allocations, :unknown,
      kind: :profile_diff,
      nested: {total: MethodDiff, methods: [MethodDiff], calls: [MethodDiff], allocations: [MethodDiff],
               unknown: [Unknown]})
  end
end
