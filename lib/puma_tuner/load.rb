# frozen_string_literal: true

module PumaTuner
  # Requests to send, and generators that send them. Knows no stage; the stages say when, how much and to whom.
  #
  # The load has four questions. What to send: request_file makes requests, a mix is several of them with weights, whose
  # {{names}} a template fills in from a data_file; messages are its bytes. What each client has for itself is a
  # session: values and cookies, from lines that set_up sends once. Arrivals say when, traffic adds how to send it;
  # first_response sends it to an app that is cold, warmup_run until that is warm. The generator that sends it is ours
  # (native, native_plan, native_outcome, native_doubts). Whether it tells the truth: self_test, of a stall_server.
  # What came of it: an outcome.
  module Load
    PumaTuner.autoload_folder(self, "#{__dir__}/load", request: %i[Pick Request], set_up: %i[Clients SetUp],
      warmup_run: %i[Warmup WarmupRun])
  end
end
