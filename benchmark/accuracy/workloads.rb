# frozen_string_literal: true

module Accuracy
  # What is done, by name, in the page's order. The files are loaded in the child only.
  module Workloads
    # file: in workloads/; constant: in it
    Entry = Data.define(:name, :file, :constant, :title, :truth)

    ALL = [
      Entry.new(name: "ruby_spin", file: "spinning", constant: :RubySpin, title: "computing in Ruby",
        truth: "CPU clock of the thread; a thread alone that is off a core is preempted"),
      Entry.new(name: "c_spin", file: "spinning", constant: :CSpin, title: "computing in C with the GVL",
        truth: "the same"),
      Entry.new(name: "c_spin_without_gvl", file: "spinning", constant: :CSpinWithoutGvl, title: "computing in C without the GVL",
        truth: "the same; off a core counts as preempted or IO as one likes"),
      Entry.new(name: "sleep", file: "waiting", constant: :Sleeping, title: "Kernel#sleep",
        truth: "clock around each sleep, less the CPU in it"),
      Entry.new(name: "socket", file: "socket", constant: :SocketWait, title: "waiting for a socket",
        truth: "clock around each question to another process, less the CPU in it"),
      Entry.new(name: "mutex", file: "waiting", constant: :MutexWait, title: "waiting for a Mutex that a sleeper holds",
        truth: "from asking until the holder's own stamp, then GVL wait; doubt: 0.1 ms per wait"),
      Entry.new(name: "queue", file: "waiting", constant: :QueueWait, title: "waiting for a Queue and a ConditionVariable",
        truth: "from asking until the feeder's own stamp, then GVL wait; doubt: 0.1 ms per wait"),
      Entry.new(name: "pool", file: "pool", constant: :StarvedPool, title: "4 threads, one pooled connection",
        truth: "checkouts until the stamp of whoever gave the connection back, clock around sleeps; doubt: 0.1 ms per wait"),
      Entry.new(name: "gc", file: "garbage", constant: :Garbage, title: "making garbage",
        truth: "GC.total_time (CPU of the collector in the whole process, in which one thread works); doubt: its " \
               "distance to the sum by phases"),
      Entry.new(name: "contention", file: "contention", constant: :Contention, title: "4 threads compute for one GVL",
        truth: "wall less CPU clock; of it preempted: waiting for a core as the kernel counts it (schedstat), also the doubt"),
      Entry.new(name: "mixed", file: "contention", constant: :Mixed, title: "CPU, sleep, socket, beside a thread that computes",
        truth: "sleeps by what was asked for, answers by the peer's clock, the rest as above; doubt: 0.1 ms per wake-up")
    ].freeze

    NAMES = ALL.map(&:name).freeze

    # @return [Entry]
    def self.entry(name) = ALL.find { |entry| entry.name == name } || raise(KeyError, "no workload #{name}")

    # @return [Class] loaded now
    def self.load(name)
      found = entry(name)
      require_relative "workloads/#{found.file}"
      Accuracy.const_get(found.constant)
    end
  end
end
