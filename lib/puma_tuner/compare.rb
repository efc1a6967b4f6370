# frozen_string_literal: true

module PumaTuner
  # Two logs of a server, before and after a change, for those without Prometheus: which endpoints got slower or faster,
  # and which part of a change is only that other things were asked for.
  #
  # Log reads one of them, through AccessLog, into a Tally: how often which time was taken, by endpoint and span.
  # Pairing finds the spans of both that may be held against each other, and how long a block of them must be. Comparer
  # makes an Outcome of that, with what stats/ and fleet/ have.
  module Compare
    PumaTuner.autoload_folder(self, "#{__dir__}/compare", outcome: %i[Endpoint Facts Outcome])
  end
end
