# frozen_string_literal: true

# The cure on its own, for concurrent-ruby 1.1.6: a stored nil or false is a hit, too, and needs no lock.
#
# Why it is safe: what is read without the lock is one Hash#fetch, which is atomic under the GVL, as the original's own read
# is; what is not there goes the old way, under the lock, where it is looked for once more before it is computed.
module FalsyValuesAreHits
  ABSENT = Object.new.freeze

  def compute_if_absent(key)
    stored = @backend.fetch(key, ABSENT)
    ABSENT.equal?(stored) ? super : stored
  end
end

Concurrent::Collection::MriMapBackend.prepend(FalsyValuesAreHits)
