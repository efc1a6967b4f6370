# frozen_string_literal: true

module PumaTuner
  module Probe
    # Tells how much memory YJIT may take before it stops compiling. Ruby does not tell, so it is read from where it can
    # be set, and from the defaults of the versions (yjit/src/options.rs of each): machine code alone in 3.3, with what
    # YJIT keeps beside it from 3.4 on.
    module YjitLimit
      DEFAULT_3_3_MIB = 48
      DEFAULT_3_4_MIB = 128

      # --yjit-exec-mem-size is over machine code alone, --yjit-mem-size over all. They are looked for in bytes, as
      # RUBYOPT with letters beyond ASCII is broken text for Ruby where no locale is set.
      OPTION = /--yjit-(exec-)?mem-size=(\d+)/

      # A limit that is used to this share is worth a warning.
      ALARM_RATIO = 0.85

      module_function

      # @param version [String] of Ruby
      # @param options [String, nil] Ruby's, as in RUBYOPT
      # @return [Integer, nil] nil of a Ruby that we don't know
      def bytes(version: RUBY_VERSION, options: ENV["RUBYOPT"])
        mib = options.to_s.b[OPTION, 2]&.to_i || default_mib(version)
        mib && mib * Units::MIB
      end

      # @return [Boolean] whether the limit counts machine code alone
      def code_only?(version: RUBY_VERSION, options: ENV["RUBYOPT"])
        found = OPTION.match(options.to_s.b)
        found ? !found[1].nil? : default_mib(version) == DEFAULT_3_3_MIB
      end

      # @param code_bytes [Integer] machine code
      # @param compiler_bytes [Integer, nil] what YJIT keeps beside it
      # @return [Integer, nil] what of both the limit counts
      def counted(code_bytes, compiler_bytes, version: RUBY_VERSION, options: ENV["RUBYOPT"])
        code_only?(version:, options:) ? code_bytes : compiler_bytes && code_bytes + compiler_bytes
      end

      def default_mib(version)
        case version.split(".").first(2).map(&:to_i) <=> [3, 3]
        when 0 then DEFAULT_3_3_MIB
        when 1 then DEFAULT_3_4_MIB
        end
      end
      private_class_method :default_mib
    end
  end
end
