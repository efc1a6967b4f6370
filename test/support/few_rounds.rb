# frozen_string_literal: true

# A run of a lab in its short form, for tests of what it counts: its proofs have two rounds. Six, which an interval of 95% takes, are run by
# falsy_cache_test.rb.
class FewRounds < PumaTuner::Lab::Run
  ROUNDS_COUNT = 2

  def initialize(lab, **) = super(lab, quick: true, command: "puma_tuner lab run #{lab.name} --quick", **)

  def proof(file, variants, **options) = super(file, variants, **options, rounds_count: ROUNDS_COUNT)
end
