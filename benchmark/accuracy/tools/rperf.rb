# frozen_string_literal: true

module Accuracy
  # Sampling, with a stack at every release of the GVL. A label tells the watched thread from the others.
  class RperfTool < Tool
    # Its clocks: wall includes being off a core, the thread's CPU clock doesn't. A collection gets a sample of its own, and is
    # part of the next one, too: method time includes it.
    COVERS = {
      "wall" => {cpu: %i[cpu preempted gc], gvl_wait: %i[gvl_wait], gc: %i[gc], io: %i[io], lock: %i[lock],
                 sleep: %i[sleep]}.freeze,
      "cpu" => {cpu: %i[cpu gc], gc: %i[gc]}.freeze
    }.freeze
    READING = "label %GC: gc; %GVL=wait: gvl_wait; %GVL=blocked: sleep or lock by the method, otherwise io, as its help says; " \
              "no label: cpu, gc included"
    STATES = {"wait" => :gvl_wait, "mark" => :gc, "sweep" => :gc}.freeze

    def prepare = require("rperf")

    def around(&)
      Rperf.start(mode: @mode.to_sym, frequency: 1_000, inherit: false)
      Rperf.label(watched: "yes", &)
      data = Rperf.stop
      watched = data[:aggregated_samples].select { |sample| labels(data, sample)[:watched] }
      sums = covers.keys.to_h { |part| [part, 0] }
      watched.each { |sample| sums[part(sample, labels(data, sample))] += sample[1] }
      sums
    end

    private

    def covers = COVERS.fetch(@mode)

    def labels(data, sample) = data[:label_sets].fetch(sample[3] || 0)

    def part((frames, _weight), labels)
      state = labels[:"%GVL"] || labels[:"%GC"]
      return :cpu if state.nil? || @mode == "cpu" && state == "blocked"
      STATES.fetch(state) { Leaf.part(frames.first.last, otherwise: :io) }
    end
  end
end
