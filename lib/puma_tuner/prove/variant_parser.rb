# frozen_string_literal: true

module PumaTuner
  module Prove
    # Variants as people declare them: on the command line, or in a Ruby file.
    module VariantParser
      # "name:key=value,key=value"; a value of several, "3|5", makes a variant of each.
      WORD = /\A([^:=,]+):(.*)\z/m

      module_function

      # @param texts [Array<String>] as above, the baseline first
      # @return [Array<Variant>]
      def parse(texts)
        checked(texts.flat_map do |text|
          match = WORD.match(text) or raise UsageError,
            "--variant #{text[/\A[^=]*/]}: write name:key=value,key=value. Known factors:\n#{Factors.help}"
          variants(match[1].strip, pairs(match[2]))
        end)
      end

      # @param texts [Array<String>] "yjit=on,off": every combination of all of them
      # @return [Array<Variant>]
      def factorial(texts)
        levels = texts.to_h do |text|
          key, values = text.split("=", 2)
          raise UsageError, "--factor #{key}: write key=value,value" if values.to_s.empty?
          [key.strip, values.split(",", -1)]
        end
        checked(every_combination(levels))
      end

      # @param path [String] of a file that calls `variant` and `factorial`
      # @return [Array<Variant>]
      def read(path)
        file = Definition.new
        file.instance_eval(File.read(path), path)
        raise UsageError, "#{path} declares no variant; write: variant \"name\", yjit: \"on\"" if file.variants.empty?
        checked(file.variants)
      rescue Errno::ENOENT, Errno::EISDIR, Errno::EACCES => error
        raise UsageError, "cannot read #{path}: #{error.message}"
      rescue ScriptError, StandardError => error # whatever it is, it is the file's
        raise if error.is_a?(UsageError)
        raise UsageError, "#{path} can't be understood: #{error.message.lines.first(3).join.strip}"
      end

      # The words that such a file may use.
      class Definition
        # @return [Array<Variant>]
        attr_reader :variants

        def initialize
          @variants = []
        end

        # @param name [String]
        # @param factors [Hash] keys as in Factors; env:, gem: and puma: take hashes
        def variant(name, **factors)
          @variants << Variant.new(name: name.to_s, factors: flat(factors))
        end

        # Every combination: factorial yjit: ["on", "off"], threads: [3, 5]
        def factorial(**levels)
          names = flat(levels, &:itself)
          levels = names.transform_values { |values| Array(values).map(&:to_s) }
          @variants.concat(VariantParser.every_combination(levels))
        end

        private

        def flat(factors, &convert)
          convert ||= :to_s.to_proc
          factors.each_with_object({}) do |(key, value), all|
            if value.is_a?(Hash) then value.each { |name, one| all["#{key}.#{name}"] = convert.call(one) }
            else all[key.to_s] = convert.call(value)
            end
          end
        end
      end

      # @param levels [Hash{String => Array<String>}]
      # @return [Array<Variant>] called after their factors
      def every_combination(levels)
        combinations(levels).map { |factors| Variant.new(name: named(factors, levels), factors:) }
      end

      # Names go into documents: values that may be secret are called by their place among the others.
      # @return [String] "yjit=on env.DATABASE_URL=value 2"
      def named(factors, levels)
        factors.map { |key, value|
          shown = Host::Masking.factor(key, value)
          "#{key}=#{(shown == value) ? value : "value #{levels.fetch(key).index(value) + 1}"}"
        }.join(" ")
      end

      # More take weeks, and ten factors of ten values more memory than there is.
      VARIANTS_MAX = 1_000

      # @param levels [Hash{String => Array<String>}]
      # @return [Array<Hash{String => String}>] the first value of each first
      def combinations(levels)
        count = levels.each_value.map(&:size).reduce(1, :*)
        if count > VARIANTS_MAX
          raise UsageError, "these are #{count} variants, and #{VARIANTS_MAX} are the most; leave out factors or values"
        end
        first, *others = levels.map { |key, values| values.map { |value| [key, value] } }
        first ? first.product(*others).map(&:to_h) : [{}]
      end

      # A comma ends a pair only where another key follows, so that values may hold some.
      def pairs(text)
        text.split(/,(?=[a-z][\w.]*=)/).to_h do |pair|
          key, value = pair.split("=", 2)
          raise UsageError, "--variant …#{key}: write key=value" unless value
          [key.strip, value]
        end
      end

      def variants(name, pairs)
        levels = pairs.transform_values { |value| value.include?("|") ? value.split("|", -1) : [value] }
        several = levels.select { |_, values| values.size > 1 }.keys
        combinations(levels).map do |factors|
          Variant.new(name: [name, *(named(factors.slice(*several), levels) if several.any?)].join(" "), factors:)
        end
      end

      def checked(variants)
        variants.each { |variant| Factors.check(variant.factors) }
        twice = variants.map(&:name).tally.find { |_, count| count > 1 }
        raise UsageError, "two variants are called #{twice.first.inspect}; give each its own name" if twice
        variants
      end
    end
  end
end
