# frozen_string_literal: true

module Accuracy
  # What is done, by name, in the page's order. The work itself is loaded in the child only.
  module Workloads
    # constant: in work.rb
    Entry = Data.define(:name, :constant, :title, :truth)

    ALL = [
      Entry.new(name: "ruby_spin", constant: :RubySpin, title: "computing in Ruby",
        truth: "CPU clock of the thread; a thread alone that is off a core is preempted"),
      Entry.new(name: "c_spin", constant: :CSpin, title: "computing in C with the GVL",
        truth: "the same"),
      Entry.new(name: "c_spin_without_gvl", constant: :CSpinWithoutGvl, title: "computing in C without the GVL",
        truth: "the same; off a core counts as preempted or IO as one likes"),
      Entry.new(name: "sleep", constant: :Sleeping, title: "Kernel#sleep",
        truth: "clock around each sleep, less the CPU in it"),
      Entry.new(name: "socket", constant: :SocketWait, title: "waiting for a socket",
        truth: "clock around each question to another process, less the CPU in it"),
      Entry.new(name: "mutex", constant: :MutexWait, title: "waiting for a Mutex that a sleeper holds",
        truth: "from asking until the holder's own stamp, then GVL wait; doubt: 0.1 ms per wait"),
      Entry.new(name: "queue", constant: :QueueWait, title: "waiting for a Queue and a ConditionVariable",
        truth: "from asking until the feeder's own stamp, then GVL wait; doubt: 0.1 ms per wait"),
      Entry.new(name: "pool", constant: :StarvedPool, title: "4 threads, one pooled connection",
        truth: "checkouts until the stamp of whoever gave the connection back, clock around sleeps; doubt: 0.1 ms per wait"),
      Entry.new(name: "gc", constant: :Garbage, title: "making garbage",
        truth: "GC.total_time (CPU of the collector in the whole process, in which one thread works); doubt: its " \
               "distance to the sum by phases"),
      Entry.new(name: "contention", constant: :Contention, title: "4 threads compute for one GVL",
        truth: "wall less CPU clock; of it preempted: waiting for a core as the kernel counts it (schedstat), also the doubt"),
      Entry.new(name: "mixed", constant: :Mixed, title: "CPU, sleep, socket, beside a thread that computes",
        truth: "sleeps by what was asked for, answers by the peer's clock, the rest as above; doubt: 0.1 ms per wake-up")
    ].freeze

    NAMES = ALL.map(&:name).freeze

    # @return [Entry]
    def self.entry(name) = ALL.find { |entry| entry.name == name } || raise(KeyError, "no workload #{name}")

    # @return [Class] loaded now
    def self.load(name)
      require_relative "work"
      Accuracy.const_get(entry(name).constant)
    end
  end
end
