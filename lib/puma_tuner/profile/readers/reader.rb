# frozen_string_literal: true

require "json"

module PumaTuner
  module Profile
    module Readers
      # The shared part of all readers: `parse` turns the file's bytes into a value, `check` insists that it is of its
      # kind and of a known version, and `build` makes Samples of it. The first two are here for what our own adapters
      # write; readers of a profiler's own files may have others.
      class Reader
        # Reading a value of another shape raises one of these, wherever in it the difference is.
        MISFITS = [KeyError, IndexError, TypeError, NoMethodError, ArgumentError, RangeError, FloatDomainError,
          ZeroDivisionError].freeze

        # Of a file, and of what is unpacked from one: profiles of large apps have a hundred mebibytes.
        MOST_BYTES = 512 * Units::MIB

        # @param profiler [Class] a Profiler
        # @param path [String]
        # @param mode [String, nil] that it must be of; nil: any
        def initialize(profiler, path, mode)
          @profiler = profiler
          @path = path
          @mode = mode
        end

        # @return [Samples]
        # @raise [UnreadableProfile]
        def samples
          bytes = AtomicFile.read_at_most(@path, MOST_BYTES)&.force_encoding(Encoding::BINARY) or refuse_size("it has")
          refuse("it is empty") if bytes.empty?
          content = parse(bytes)
          begin
            check(content)
            build(content).tap { |samples| ensure_numbers(samples) }
          rescue *MISFITS => error
            refuse("it is not what #{@profiler::NAME} #{@profiler::VERSION_REQUIREMENT} writes " \
              "(#{Document.first_line(error)})")
          end
        rescue SystemCallError => error
          refuse(error.message[/\A[^@]+/].strip)
        end

        private

        def refuse(problem) = raise(UnreadableProfile.new(@path, problem))

        def refuse_size(has)
          refuse("#{has} more than #{Units.mebibytes(MOST_BYTES)}; profile for less time, or sample less often")
        end

        def parse(bytes) = json(bytes.force_encoding(Encoding::UTF_8))

        def check(content)
          ensure_kind(content.is_a?(Hash) && content["kind"] == @profiler::NAME)
          unless content["format"] == @profiler::FORMAT
            refuse("it is of our format #{Document.told(content["format"])} for #{@profiler::NAME}, " \
              "and known here is #{@profiler::FORMAT}")
          end
          ensure_version(content.fetch("profiler_version"))
          ensure_mode(content.fetch("mode"))
        end

        # Marshal's files begin so.
        MARSHAL = "\x04\x08".b.freeze

        def json(text)
          refuse("it is not UTF-8 text") unless text.valid_encoding? || text.b.start_with?(MARSHAL)
          JSON.parse(text.delete_prefix(Document::BYTE_ORDER_MARK))
        rescue JSON::ParserError
          # Nobody's Marshal file is loaded: it can run code that whoever wrote it has chosen.
          refuse("it is in Ruby's Marshal format, which is not read here#{remedy}") if text.b.start_with?(MARSHAL)
          refuse("it is not JSON, or it is cut short")
        end

        # @return [String] what to do with a file that Marshal wrote, with a semicolon before it
        def remedy = ""

        def ensure_kind(true_so) = (refuse("it was not written by #{@profiler::NAME}") unless true_so)

        def ensure_version(version)
          return if Gem::Requirement.new(@profiler::VERSION_REQUIREMENT).satisfied_by?(Gem::Version.new(version))
          refuse("it is of #{@profiler::NAME} #{Document.word(version)}, and known here is " \
            "#{@profiler::VERSION_REQUIREMENT}")
        end

        # Whoever computes with them counts on it.
        def ensure_numbers(samples)
          numbers = [samples.samples_count, samples.lost_count, samples.interval_ns, *samples.stacks.map(&:amount),
            *samples.calls.flat_map { |call| [call.calls_count, call.self_amount, call.total_amount] },
            *samples.allocations.flat_map { |one| one.to_h.values_at(*AMOUNTS) }]
          refuse("it counts no samples, and holds some") if samples.samples_count == 0 && samples.stacks.any?
          return if numbers.compact.all? { |one| one.is_a?(Numeric) && one >= 0 && one < MOST }
          refuse("an amount in it is no number, less than nothing, or more than 64 bits hold")
        end

        AMOUNTS = %i[objects_count bytes retained_objects_count retained_bytes].freeze
        MOST = 2**63
        private_constant :AMOUNTS, :MOST

        # @return [String] the mode
        def ensure_mode(mode)
          unless @profiler::MODES.key?(mode)
            refuse("it was recorded in mode #{Document.told(mode)}, which is none of #{@profiler::NAME}'s")
          end
          refuse("it was recorded in mode #{mode}, wanted is #{@mode}") if @mode && @mode != mode
          mode
        end

        # Frames are many and names few: equal ones are one object.
        def frame(name, path, line)
          name = "(unknown)" if name.nil? || name.empty?
          path = nil if path.nil? || path.empty? || path.start_with?("<cfunc>", "<C method>")
          line = nil unless path && line&.positive?
          (@frames ||= {})[[name, path, line]] ||= Frame.new(name: -name, path: path && -path, line:)
        end

        # @param from [Hash] as Profiler#facts wrote it
        def told(from)
          {profiler: @profiler::NAME, profiler_version: from.fetch("profiler_version"), pid: from.fetch("pid")}
        end
      end
    end
  end
end
