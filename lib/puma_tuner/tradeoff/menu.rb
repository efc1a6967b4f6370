# frozen_string_literal: true

module PumaTuner
  module Tradeoff
    # The settings that are tried, as factors of variants (Prove::Factors). The first of each list is as Ruby comes.
    module Menu
      # More variants take hours, and share the chance of a false alarm among them.
      VARIANTS_MAX = 24

      # YJIT stops compiling at so many MiB, and compiles a method after so many calls (Ruby's own: 128 MiB in 3.4, 48
      # in 3.3; 30 calls, or 120 in large apps: yjit/src/options.rs).
      MEMORY_MIB = [16, 32].freeze
      CALL_THRESHOLDS = [5, 200].freeze

      # Without it glibc has up to 8 arenas for each core, and each keeps what was freed in it.
      ARENAS = {"env.MALLOC_ARENA_MAX" => "2"}.freeze
      JEMALLOC = "libjemalloc.so.2"

      # Each with what it is meant to do; Ruby's own values in gc.c: growth 1.8,
      # old objects 2.0, free slots 0.20, malloc limit 32 MiB.
      GC = {
        "gc as it is" => {},
        "heap grows slowly" => {"env.RUBY_GC_HEAP_GROWTH_FACTOR" => "1.1"},
        "fewer major collections" => {"env.RUBY_GC_HEAP_OLDOBJECT_LIMIT_FACTOR" => "4"},
        "more free slots" => {"env.RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO" => "0.4"},
        "malloc counts less" => {"env.RUBY_GC_MALLOC_LIMIT_MAX" => "134217728",
                                 "env.RUBY_GC_OLDMALLOC_LIMIT_MAX" => "536870912"}
      }.freeze

      SUBJECTS = %w[yjit malloc gc].freeze

      module_function

      # @param subjects [Array<String>] the first is what it is about; every combination is a variant
      # @param ruby_version [String]
      # @param memory_mib [Array<Integer>] limits for YJIT, besides its own
      # @param call_thresholds [Array<Integer>] for YJIT, besides its own
      # @param cross [Boolean] whether each limit goes with each threshold, too
      # @return [Array<Prove::Variant>] the baseline first
      # @raise [UsageError] for what is not known, and for too many
      def variants(subjects, ruby_version: RUBY_VERSION, memory_mib: MEMORY_MIB, call_thresholds: CALL_THRESHOLDS,
        cross: false)
        unknown = subjects - SUBJECTS
        raise UsageError, "unknown subject #{unknown.first}; choose from #{SUBJECTS.join(", ")}" if unknown.any?
        lists = subjects.uniq.map { |subject| list(subject, ruby_version, memory_mib, call_thresholds, cross) }
        combinations = lists.first.to_a.product(*lists.drop(1).map(&:to_a))
        ensure_few_combinations(combinations.size)
        combinations.map do |parts|
          Prove::Variant.new(name: parts.map(&:first).join(" + "), factors: parts.map(&:last).reduce({}, :merge))
        end
      end

      def list(subject, ruby_version, memory_mib, call_thresholds, cross)
        case subject
        when "yjit" then yjit(memory_flag(ruby_version), memory_mib, call_thresholds, cross)
        when "malloc" then {"glibc" => {}, "two arenas" => ARENAS, **jemalloc}
        when "gc" then GC
        end
      end

      def yjit(memory_flag, memory_mib, call_thresholds, cross)
        {
          "YJIT off" => {"yjit" => "off"}, "YJIT on" => {"yjit" => "on"},
          **memory_mib.to_h { |mib| ["YJIT on with #{mib} MiB", yjit_by("#{memory_flag}=#{mib}")] },
          **call_thresholds.to_h { |count|
            ["YJIT on after #{count} calls", yjit_by("--yjit-call-threshold=#{count}")]
          },
          **(cross ? crossed(memory_flag, memory_mib, call_thresholds) : {})
        }
      end

      # A limit that is reached keeps out what is compiled late, and a threshold decides what that is: they belong
      # together.
      def crossed(memory_flag, memory_mib, call_thresholds)
        memory_mib.product(call_thresholds).to_h do |mib, count|
          ["YJIT on with #{mib} MiB after #{count} calls",
            yjit_by("#{memory_flag}=#{mib} --yjit-call-threshold=#{count}")]
        end
      end

      def yjit_by(flag) = {"yjit" => "on", "rubyopt" => flag}

      # 3.3 limits the machine code alone, 3.4 what is kept beside it, too.
      def memory_flag(ruby_version)
        (Gem::Version.new(ruby_version) >= Gem::Version.new("3.4")) ? "--yjit-mem-size" : "--yjit-exec-mem-size"
      end

      # It is tried only where it is installed; the menu is about what there is.
      def jemalloc
        Prove::Installed.library(JEMALLOC)
        {"jemalloc" => {"preload" => JEMALLOC}}
      rescue UsageError
        {}
      end

      def ensure_few_combinations(count)
        return if count <= VARIANTS_MAX
        raise UsageError, "these are #{count} combinations; more than #{VARIANTS_MAX} take hours and show little. " \
          "Leave out a subject, or some of --yjit-memory or --thresholds."
      end
    end
  end
end
