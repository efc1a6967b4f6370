# frozen_string_literal: true

module Accuracy
  # Something that says where time went, as its users would use and read it. A subclass adapts one tool: one file, the reading
  # explained in READING, registered in tools.rb.
  class Tool
    # What each of its words holds, in ours: a tool that files garbage collection under CPU time by its own account is held
    # against both together. A word that is missing is not judged.
    COVERS = {}.freeze

    # @param mode [String, nil] of a tool that has several
    def initialize(mode = nil)
      @mode = mode
    end

    # Loads and starts it, on the main thread, before other threads are made.
    def prepare
    end

    # @yield the workload, on the watched thread
    # @return [Hash{Symbol => Integer}] part => ns, of the watched thread
    def around
      raise NotImplementedError
    end

    # @return [Hash{Symbol => Integer}] what else it said: wall_ns, the sum of all parts; around_ns, the wall time of what it watched from outside
    def extras = {}
  end

  # For tools that say where in the code time went: what their user takes a method to mean who sees it at the end of a stack.
  module Leaf
    SLEEP = /\A(Kernel|Object)[#.]sleep\z/
    LOCK = /\A(Thread::)?(Mutex|Queue|SizedQueue|ConditionVariable)[#.]|\AMonitor[#.]|\AThread[#.](join|value)\z/
    IO = /\A(IO|BasicSocket|Socket|UNIXSocket|TCPSocket)[#.]/

    # @param name [String] of the method
    # @param otherwise [Symbol]
    # @return [Symbol] a part
    def self.part(name, otherwise:)
      case name
      when SLEEP then :sleep
      when LOCK then :lock
      when IO then :io
      else otherwise
      end
    end
  end
end
