# frozen_string_literal: true

module PumaTuner
  module Profile
    # The layers that CPU time is spent in, from the app's methods down to the kernel, by the function that ran and the
    # file it is in. Who called it is not asked, as most builds of Ruby lead no further than the function itself.
    module Layers
      # From above.
      NAMES = %w[methods puma interpreter threads gc extensions libraries kernel].freeze

      # In the kernel's files, brackets stand around its own name and its modules'; these are a process's.
      KERNEL = /\A\[(?!vdso|vsyscall|unknown|heap|stack|anon|JIT)/

      # Machine code that YJIT has named.
      COMPILED = %r{/perf-\d+\.map\z|\A\[JIT\]}

      CRUBY = %r{(\A|/)(libruby[\w.-]*\.so[\d.]*|ruby[\d.]*)\z}
      PUMA = %r{/puma-[\d.]+[^/]*/|/puma_http11\.so\z}
      EXTENSION = %r{/(?:gems|extensions|lib/ruby)/.+\.(?:so|bundle)\z}

      # Functions of CRuby 3.3 and 3.4: gc.c, gc/default, and what allocates; thread.c, thread_pthread.c.
      GC = /(\A|_)r?gc(_|\z)|rgengc|objspace|\A(newobj|heap_|obj_free|mark_)/
      THREADS = /\A(thread_sched|native_(sleep|thread)|ubf_|timer_thread|rb_native_(mutex|cond)|gvl_|nogvl|rb_nogvl)/

      # @param function [String]
      # @param file [String] that it is in, as perf tells it
      # @param path [String, nil] of the Ruby file, of a method
      # @return [String] one of NAMES
      def self.of(function, file, path = nil)
        case file
        when KERNEL then "kernel"
        when COMPILED then (PUMA.match?(path.to_s) ? "puma" : "methods")
        when PUMA then "puma"
        when CRUBY then cruby(function)
        when EXTENSION then "extensions"
        else "libraries"
        end
      end

      def self.cruby(function)
        case function
        when GC then "gc"
        when THREADS then "threads"
        else "interpreter"
        end
      end
      private_class_method :cruby
    end
  end
end
