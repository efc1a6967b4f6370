# frozen_string_literal: true

require "json"

module PumaTuner
  # The values that pass between the stages are frozen `Data`, written to and read from JSON with the same keys.
  # A document is such a value on its own in a file: it carries its kind, the schema's version and the tool's.
  module Document
    autoload :Fields, "#{__dir__}/document/fields"

    SCHEMA_VERSION = 1

    # Of a file: a recording of a million requests has half a mebibyte, and one with its lanes some; JSON takes ten
    # times as much memory once it is read.
    MOST_BYTES = 256 * Units::MIB

    # A value of another shape raises one of these when it is read, wherever in it the difference is.
    MISFITS = [KeyError, TypeError, NoMethodError, ArgumentError, RangeError].freeze

    # The values that stand alone in a file, by the kind they carry there. Names, so that reading one loads only that.
    KINDS = {
      "observation" => "Probe::Observation", "workload" => "Model::Workload", "machine" => "Model::Machine",
      "sweep" => "Predict::Sweep", "advice_list" => "Advise::AdviceList", "verdict" => "Prove::Verdict",
      "tuning" => "Tuning",
      "load_outcome" => "Load::Outcome", "load_self_test" => "Load::SelfTest::Result",
      "profile" => "Profile::Costs", "profile_diff" => "Profile::CostDiff",
      "tradeoff" => "Tradeoff::Study", "fleet" => "Fleet::Comparison", "lanes" => "Lanes::Comparison",
      "log_comparison" => "Compare::Outcome",
      "status" => "Top::Status", "trial" => "Trial::Outcome"
    }

    # Adds a kind for values that are not the gems' own.
    #
    # @param kind [String]
    # @param name [String] of the value's class, below PumaTuner
    def self.add(kind, name) = KINDS[kind] = name

    # Makes a value class.
    #
    # @param members [Array<Symbol>] the fields; units are in their names
    # @param kind [Symbol, nil] set for values that stand alone in a file; a key of KINDS
    # @param nested [Hash{Symbol => Class, Array(Class), Hash{String => Class}}] fields that hold other values, lists of
    #   them, or them by name; :itself in the place of the class that is being made
    # @param added [Array<Symbol>, Hash{Symbol => Object}] fields that older files lack; read from those they are nil,
    #   or what the Hash has for them, which they also are where a caller leaves them out
    # @param renamed [Hash{Symbol => String}] fields that have another name in older files: {field => its key there}
    # @param symbols [Array<Symbol>] fields that hold a Symbol
    # @return [Class] a subclass of Data
    def self.define(*members, kind: nil, nested: {}, added: [], renamed: {}, symbols: [], &block)
      Data.define(*members) do
        include Writing
        extend Reading
        include Filling if added.is_a?(Hash)

        const_set(:NESTED, nested.transform_values { |of| {:itself => self, [:itself] => [self]}.fetch(of, of) }.freeze)
        const_set(:ADDED, (added.is_a?(Hash) ? added.keys : added).freeze)
        const_set(:USUAL, added.each_value(&:freeze).freeze) if added.is_a?(Hash)
        const_set(:RENAMED, renamed.freeze)
        const_set(:SYMBOLS, symbols.freeze)
        const_set(:KIND, kind)
        class_eval(&block) if block
      end
    end

    # @param value [Data] of a class with a kind
    # @return [String] the document as JSON
    def self.dump(value)
      JSON.generate({kind: value.class::KIND, schema_version: SCHEMA_VERSION, tool_version: VERSION,
        **value.to_document})
    end

    # Replaces the file in one step, so that an interrupted write leaves the old content. What is no file (a device, a
    # pipe) is written to, and a link stays one.
    #
    # @param value [Data] of a class with a kind
    # @param path [String]
    # @return [void]
    # @raise [UsageError] when it can't be written there
    def self.write(value, path)
      return File.write(path, dump(value)) if File.exist?(path) && !File.file?(path)
      path = File.realpath(path) if File.symlink?(path) && File.exist?(path)
      AtomicFile.write(path, dump(value))
    rescue SystemCallError => error
      raise UsageError, "cannot write #{path}: #{error.message}. Give another place."
    end

    # @param kinds [Array<Symbol>] the kinds that will do
    # @param path [String] of a file written by puma_tuner
    # @return [Data] the value
    # @raise [InvalidDocument] when the file holds something else
    def self.read(path, *kinds)
      text = AtomicFile.read_at_most(path, MOST_BYTES)
      return parse(text, path, kinds) if text
      raise InvalidDocument.new(path, "it has more than #{Units.mebibytes(MOST_BYTES)}, and no document has " \
        "nearly as much, so it is probably another file")
    rescue SystemCallError => error
      raise UsageError, "cannot read #{path}: #{error.message}. Give the path of a file written by puma_tuner."
    end

    # As `read`, for whoever shows it or computes with it.
    #
    # @yieldparam value [Data]
    # @return [Object] what the block returns
    # @raise [InvalidDocument] also where the block fails
    def self.reading(path, *kinds) = fitting(path) { yield read(path, *kinds) }

    # What a file holds may be of the right types and still make no sense together, when somebody has changed it.
    #
    # @param paths [Array<String>] of files of which any may be wrong; named in errors
    # @yield shows what they hold, or computes with it; prints nothing
    # @return [Object] what the block returns
    # @raise [InvalidDocument] where the block fails
    def self.fitting(*paths)
      yield
    rescue Error
      raise
    rescue => error
      place = error.backtrace.to_a.first.to_s[%r{[^/]+/[^/]+\.rb:\d+}]
      raise InvalidDocument.new(paths.join(" or "), "what it holds does not fit together (#{place}: " \
        "#{first_line(error)}). If nobody has changed it, this is our bug, please report it")
    end

    # Programs of Windows' put it in front of UTF-8.
    BYTE_ORDER_MARK = "\uFEFF"

    # @param text [String] JSON
    # @param path [String] named in errors
    def self.parse(text, path, kinds)
      raise InvalidDocument.new(path, "it is not UTF-8 text") unless text.valid_encoding?
      fields = JSON.parse(text.delete_prefix(BYTE_ORDER_MARK))
      raise InvalidDocument.new(path, "it is not a JSON object") unless fields.is_a?(Hash)
      kind = fields["kind"]
      wanted = kinds.empty? ? KINDS.keys : kinds.map(&:to_s)
      unless wanted.include?(kind)
        raise InvalidDocument.new(path, "its kind is #{told(kind)}, where #{wanted.join(" or ")} is needed")
      end
      raise InvalidDocument.new(path, other_version(fields)) unless fields["schema_version"] == SCHEMA_VERSION
      PumaTuner.const_get(KINDS.fetch(kind)).from_document(fields)
    rescue JSON::ParserError, EncodingError
      raise InvalidDocument.new(path, "it is not JSON, or it is cut short")
    rescue KeyError => error
      raise InvalidDocument.new(path, excerpt(error.message, ERROR_LENGTH))
    rescue *MISFITS => error
      raise InvalidDocument.new(path, "what it holds does not fit together (#{first_line(error)})")
    end

    # Of what stands in somebody else's file so many characters are told, and so many of an error that may quote it.
    TOLD_LENGTH = 40
    ERROR_LENGTH = 300

    # @api private
    # @param text [String]
    # @param most [Integer] characters
    # @return [String] its beginning, when it is longer than that
    def self.excerpt(text, most = TOLD_LENGTH) = (text.size > most) ? "#{text[0, most]}…" : text

    # @api private
    # @param value [Object] of a file
    # @return [String] it, or how it begins, as Ruby would write it
    def self.told(value) = excerpt((value.is_a?(String) ? value[0..TOLD_LENGTH] : value).inspect)

    # @api private
    # @param value [Object] of a file
    # @return [String] likewise, as a word in a sentence
    def self.word(value) = told(value.to_s).delete_prefix("\"").delete_suffix("\"")

    # @api private
    # @param error [Exception]
    # @return [String] what it says first, or how that begins
    def self.first_line(error) = excerpt(error.message.lines.first.to_s.chomp, ERROR_LENGTH)

    # @api private
    # @param fields [Hash{String => Object}] of a file, with the version of what wrote it
    # @param key [String] of the version that they have
    # @param known [Integer] the one that is read
    # @return [String] why it is not, as a clause
    def self.other_version(fields, key: "schema_version", known: SCHEMA_VERSION)
      version = fields[key]
      newer = version.is_a?(Integer) && version > known
      writer = word(fields["tool_version"])
      "its #{key.tr("_", " ")} is #{told(version)}, and this puma_tuner (#{VERSION}) reads " \
        "#{known}#{"; the one that wrote it is newer (#{writer}), and reads it" if newer}"
    end

    # Fills in what a caller leaves out, or an older file lacks.
    module Filling
      def initialize(**fields)
        self.class::USUAL.each { |name, usual| fields[name] = usual if fields[name].nil? }
        super
      end
    end

    # Turns a value into JSON.
    module Writing
      # @return [Hash{Symbol => Object}] plain hashes, arrays, strings and numbers
      def to_document = to_h.transform_values { |field| Writing.plain(field) }

      def self.plain(field)
        case field
        when Array then field.map { |element| plain(element) }
        when Hash then field.to_h { |key, element| [key.is_a?(Array) ? key.compact.join(" ") : key, plain(element)] }
        when Writing then field.to_document
        else field
        end
      end
    end

    # Turns JSON into a value.
    module Reading
      # @param fields [Hash{String => Object}]
      # @raise [KeyError] when a field is missing, or holds what it can't
      def from_document(fields)
        raise KeyError, "#{told_name} is #{Document.told(fields)}, where an object is needed" unless fields.is_a?(Hash)
        fields = of_now(fields)
        values = members.to_h do |member|
          [member, nested_value(member, field(member, fields))]
        end
        new(**values)
      end

      private

      # Classes whose older files have something in another form override this.
      #
      # @param fields [Hash{String => Object}]
      # @return [Hash{String => Object}] as this version writes them
      def of_now(fields) = fields

      def field(member, fields)
        key = member.to_s
        key = self::RENAMED.fetch(member, key) unless fields.key?(key)
        return fields[key] if self::ADDED.include?(member)
        fields.fetch(key) { raise KeyError, "#{told_name} has no #{member}" }
      end

      def nested_value(member, field)
        return symbol(member, field) if self::SYMBOLS.include?(member)
        case value_class = self::NESTED[member]
        when nil then frozen(checked(member, field))
        when Array then list(member, field)&.map { |element| value_class.first.from_document(element) }.freeze
        when Hash
          ensure_fits(member, field, Fields::HASH)
          field&.transform_values { |element| value_class.fetch(String).from_document(element) }.freeze
        else field && value_class.from_document(field)
        end
      end

      # Older files have words for some.
      def symbol(member, field)
        ensure_fits(member, field, Fields::TEXT)
        field&.tr(" ", "_")&.to_sym
      end

      # A value of JSON's, and all in it. JRuby and TruffleRuby have no Ractor, which is faster at it.
      def frozen(value)
        return Ractor.make_shareable(value) if defined?(::Ractor)
        parts = value.is_a?(Hash) ? value.flatten : value
        parts.each { |part| frozen(part) } if parts.is_a?(Array)
        value.freeze
      end

      # Nobody counts on a list that is not there, but where older files have none.
      def list(member, field)
        ensure_fits(member, field, Fields::LIST)
        return field unless field.nil? && !self::ADDED.include?(member)
        raise KeyError, "#{told_name} has no #{member}"
      end

      def checked(member, field)
        check = checks.fetch(member) { checks[member] = check_of(Fields.type(self, member)) }
        check.call(field) ? field : refuse(member, field)
      end

      def checks = @checks ||= {}

      def check_of(type)
        return ->(_) { true } unless type
        check = Fields.check(type)
        Fields.nullable?(type) ? ->(field) { field.nil? || check.call(field) } : check
      end

      def ensure_fits(member, field, type) = field.nil? || Fields.check(type).call(field) || refuse(member, field)

      def refuse(member, field)
        raise KeyError, "#{member} of #{told_name} is #{Document.told(field)}, which it can't be"
      end

      def told_name = name.to_s.delete_prefix("PumaTuner::")
    end
  end
end
