# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # YJIT is at the limit of its memory: beyond it, it compiles nothing more, and what is called from then on stays
      # interpreted.
      #
      # Evidence: what each process told of its machine code at the end; the limit, by Ruby's version and its flags.
      # Threshold: 85% of it (Probe::YjitLimit::ALARM_RATIO, as the exporter's alert). Effect: none, as nobody knows how
      # much is left to compile; `prove` measures it. Cost: that memory, in each worker. Undo: the old limit.
      #
      # Any --yjit-… makes YJIT compile from Ruby's boot on (ruby.c). Where it is the app that switches it on, as Rails
      # does when all is loaded, --yjit-disable leaves it to that; beside --yjit it would leave YJIT off.
      class YjitMemory < Rule
        PRIORITY = 45

        FACTOR = 2

        # Flags of Ruby that have a say in YJIT at boot, also --yjit-disable and --jit; and values of RUBY_YJIT_ENABLE.
        AT_BOOT = /--(enable[-=]\S*)?y?jit\b/
        SWITCHED_ON = %w[1 true yes].freeze

        def call
          fullest = counted.max or return []
          return [] if fullest < Probe::YjitLimit::ALARM_RATIO * limit_bytes
          [remark(title: say(:yjit_full, ratio: fullest.fdiv(limit_bytes)),
            evidence: [say(:yjit_counted, used_bytes: fullest, limit_bytes:, processes_count: counted.size)],
            change: say(:yjit_limit, bytes: FACTOR * limit_bytes), lines: {ENVIRONMENT => "RUBYOPT=\"#{all_flags}\""},
            factors: {"rubyopt" => flags}, cost: say(:yjit_bytes_each, bytes: (FACTOR - 1) * limit_bytes,
              workers_count: @situation.topology.workers_count), undo: say(:yjit_old_limit, bytes: limit_bytes))]
        end

        private

        # @return [Array<Integer>] bytes that the limit counts, of each process that told
        def counted
          @counted ||= (limit_bytes ? observation&.processes.to_a : []).filter_map do |process|
            code_bytes = process.gauges["code_bytes"] or next
            Probe::YjitLimit.counted(code_bytes, process.gauges["compiler_bytes"], **ruby)
          end
        end

        def limit_bytes = @limit_bytes ||= Probe::YjitLimit.bytes(**ruby)

        def ruby = {version: workload.ruby_version.to_s, options: @situation.setting(:ruby, "flags")}

        # With those that Ruby is given already.
        def all_flags = [ruby[:options].to_s.gsub(Probe::YjitLimit::OPTION, "").strip, flags].reject(&:empty?).join(" ")

        def flags
          name = Probe::YjitLimit.code_only?(**ruby) ? "exec-mem-size" : "mem-size"
          ["--yjit-#{name}=#{FACTOR * limit_bytes / Units::MIB}", *("--yjit-disable" unless at_boot?)].join(" ")
        end

        def at_boot?
          "#{ruby[:options]} #{observation.command}".match?(AT_BOOT) ||
            SWITCHED_ON.include?(@situation.setting(:env, "RUBY_YJIT_ENABLE"))
        end
      end
    end
  end
end
