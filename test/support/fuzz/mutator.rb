# frozen_string_literal: true

require "json"

module Fuzz
  # Makes of inputs that are as they should be others that are not: bits flip, ends and middles go, pieces of one get into another, numbers become
  # extreme, and JSON changes its types, keys and depth. What comes of it depends on the inputs and the chance alone.
  class Mutator
    CHANGES_MAX = 4
    BYTES_MAX = 200_000

    # What takes time by the square of a number shows it at this one. So many pieces of REPEATED_BYTES_MAX are BYTES_MAX.
    REPEATED_COUNT = 10_000
    REPEATED_BYTES_MAX = BYTES_MAX / REPEATED_COUNT
    REPEATED_RATIO = 0.1

    # Where readers of numbers, texts and lengths go wrong.
    NUMBERS = %w[0 -1 1 -0.0 0.5 255 256 65536 2147483647 2147483648 4294967296 9223372036854775807 9223372036854775808 18446744073709551615
      -9223372036854775808 99999999999999999999999999 1e308 1e999 -1e999 1e-400 0x10 1_000 007 NaN Infinity].freeze
    PIECES = ["", "\0", "\n", "\r\n", "\r\n\r\n", ":", ",", ";", "\"", "'", "{", "[", "<", "&#", "&#x110000;", "\\u0000", "\\ud800", "{{", "}}", "%00", "%", "../../", "é", "\xFF",
      "\xEF\xBB\xBF", "\x04\b", "\x1F\x8B", "a" * 300, "9" * 400, "(" * 60, "[" * 200, "=" * 5, " " * 1_000, "-"].map { |piece| piece.b.freeze }.freeze
    VALUES = [nil, true, false, 0, -1, 1, 0.5, -0.0, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 1e308, -1e308, 1e-320, "", "0", "x", "1x0", "0x0", "\u0000", "é\u202e", "<b>", "x" * 5_000,
      [], {}, [nil], [[]], [0, -1, nil, "x"], {"" => nil}, {"kind" => "x"}, {"value" => nil}].freeze

    def initialize
      @parsed = {}
    end

    # @param seeds [Array<String>] inputs as they should be, one of which is changed
    # @param random [Random]
    # @param json [Symbol, nil] :whole when they are JSON, :lines when each line is; nil: neither
    # @return [String] bytes
    def call(seeds, random, json: nil)
      @random = random
      bytes = seeds.sample(random: @random).b
      # What is no JSON any more gets no further than to the parser.
      json = nil if @random.rand < 0.2
      @random.rand(1..CHANGES_MAX).times { bytes = json ? in_json(bytes, json) : in_bytes(bytes, seeds) }
      bytes.byteslice(0, BYTES_MAX)
    end

    private

    # @param tree [Object] of JSON
    # @return [Object] another, of which one place differs
    def changed(tree)
      return replaced(tree) if !nests?(tree) || tree.empty? || @random.rand < 0.03
      tree.is_a?(Hash) ? changed_hash(tree) : changed_list(tree)
    end

    def nests?(tree) = tree.is_a?(Hash) || tree.is_a?(Array)

    def changed_hash(hash)
      key = hash.keys.sample(random: @random)
      case @random.rand(20)
      when 0, 1 then hash.except(key)
      when 2 then hash.except(key).merge("#{key}_" => hash[key])
      when 3 then hash.merge(hash.keys.sample(random: @random) => hash[key])
      else hash.merge(key => changed(hash[key]))
      end
    end

    def changed_list(list)
      place = @random.rand(list.size)
      case @random.rand(12)
      when 0 then list[0, place] + list[place + 1..]
      when 1 then list + [list[place]] * @random.rand(1..50)
      when 2 then list.reverse
      else list.dup.tap { |copy| copy[place] = changed(list[place]) }
      end
    end

    # Half of them by one of the same type, which is not noticed at once.
    def replaced(value)
      same = VALUES.select { |other| kind(other) == kind(value) }
      return same.sample(random: @random) if same.any? && @random.rand < 0.5
      case @random.rand(10)
      when 0 then (1..@random.rand(1..120)).reduce(value) { |inner, _| [inner] }
      when 1 then value.is_a?(Numeric) ? value * [-1, 2, 1_000_000].sample(random: @random) : [value]
      when 2 then value.is_a?(String) ? value.reverse : value.to_s
      else VALUES.sample(random: @random)
      end
    end

    def kind(value) = value.is_a?(Numeric) ? Numeric : value.class

    # What is no JSON any more, after an earlier change, is bytes.
    def in_json(bytes, json)
      return written(bytes) if json == :whole
      lines = bytes.lines
      return bytes if lines.empty?
      place = @random.rand(lines.size)
      lines[place] = "#{written(lines[place].chomp)}\n"
      lines.join
    end

    def written(text)
      @parsed.clear if @parsed.size > 64
      tree = @parsed.fetch(text) { @parsed[text] = JSON.parse(text.dup.force_encoding(Encoding::UTF_8)) }
      JSON.generate(changed(tree)).b
    rescue JSON::JSONError, EncodingError
      in_bytes(text, [text])
    end

    # Longer inputs have more in their beginning that matters: heads, magic numbers, column names.
    def place(bytes) = @random.rand((@random.rand < 0.3) ? [bytes.bytesize, 100].min + 1 : bytes.bytesize + 1)

    def in_bytes(bytes, seeds)
      at = place(bytes)
      rest = bytes.byteslice(at..)
      case @random.rand(8)
      when 0 then flipped(bytes, at)
      when 1 then bytes.byteslice(0, at)
      when 2 then bytes.byteslice(0, at) + rest.byteslice([@random.rand(64), rest.bytesize].min..)
      when 3 then bytes.byteslice(0, at) + spliced(seeds.sample(random: @random).b)
      when 4 then bytes.byteslice(0, at) + PIECES.sample(random: @random) + rest
      when 5 then bytes.byteslice(0, at) + rest.sub(/-?\d[\d.eE+]*/n) { NUMBERS.sample(random: @random) }
      when 6 then bytes.byteslice(0, at) + @random.bytes(@random.rand(1..8)) + rest.byteslice([8, rest.bytesize].min..)
      else bytes.byteslice(0, at) + repeated(rest) + rest
      end
    end

    def repeated(rest)
      return rest.byteslice(0, @random.rand(1..REPEATED_BYTES_MAX)) * REPEATED_COUNT if @random.rand < REPEATED_RATIO
      rest.byteslice(0, @random.rand(200)) * @random.rand(2..20)
    end

    def flipped(bytes, at)
      return bytes if at >= bytes.bytesize
      copy = bytes.dup
      copy.setbyte(at, bytes.getbyte(at) ^ (1 << @random.rand(8)))
      copy
    end

    def spliced(other) = other.byteslice(@random.rand(other.bytesize + 1)..)
  end
end
