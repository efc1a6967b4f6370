# frozen_string_literal: true

module PumaTuner
  # An app under the settings that buy speed with memory, or memory with speed:
  # YJIT, the allocator, the garbage collector.
  #
  # menu names what is tried; a Prove::Proof measures it; judge makes a Study of the verdict: each variant's place
  # between CPU and memory, which of them nothing else beats in both (the Pareto front), and which to take. It stands
  # beside the stages, as Tuner does, and may use all of them; no stage knows of it.
  module Tradeoff
    PumaTuner.autoload_folder(self, "#{__dir__}/tradeoff", study: %i[Point Study])
  end
end
