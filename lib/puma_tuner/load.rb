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
    autoload :Arrivals, "puma_tuner/load/arrivals"
    autoload :Clients, "puma_tuner/load/set_up"
    autoload :DataFile, "puma_tuner/load/data_file"
    autoload :FirstResponse, "puma_tuner/load/first_response"
    autoload :Generator, "puma_tuner/load/generator"
    autoload :Messages, "puma_tuner/load/messages"
    autoload :Mix, "puma_tuner/load/mix"
    autoload :Native, "puma_tuner/load/native"
    autoload :NativeDoubts, "puma_tuner/load/native_doubts"
    autoload :NativeOutcome, "puma_tuner/load/native_outcome"
    autoload :NativePlan, "puma_tuner/load/native_plan"
    autoload :Outcome, "puma_tuner/load/outcome"
    autoload :Pick, "puma_tuner/load/request"
    autoload :Request, "puma_tuner/load/request"
    autoload :RequestFile, "puma_tuner/load/request_file"
    autoload :SelfTest, "puma_tuner/load/self_test"
    autoload :Session, "puma_tuner/load/session"
    autoload :SetUp, "puma_tuner/load/set_up"
    autoload :StallServer, "puma_tuner/load/stall_server"
    autoload :Template, "puma_tuner/load/template"
    autoload :Traffic, "puma_tuner/load/traffic"
    autoload :Warmup, "puma_tuner/load/warmup_run"
    autoload :WarmupRun, "puma_tuner/load/warmup_run"
  end
end
