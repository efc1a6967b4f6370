# frozen_string_literal: true

module PumaTuner
  module Profile
    # Reads what Marshal wrote, where it is nothing but nil, true, false, numbers, strings, symbols, arrays and hashes.
    #
    # Marshal.load would run code that a file chooses, and a profile may come from a colleague or an issue. This reader
    # refuses objects, and says where a file ends too early.
    class PlainMarshal
      # @!parse class Refused < Error; end
      class Refused < Error; end

      SIGNATURE = "\x04\x08".b.freeze

      # A profile is nested less than ten deep; an endless nesting must not exhaust our stack.
      MAX_DEPTH = 64

      # @param bytes [String]
      # @return [Object]
      # @raise [Refused] why not, as a clause
      def self.load(bytes) = new(bytes).load

      def initialize(bytes)
        @bytes = bytes.b
        @at = 2
        @symbols = []
        @objects = []
        @depth = 0
      end

      def load
        raise Refused, "it is not in Ruby's Marshal format" unless @bytes.start_with?(SIGNATURE)
        value
      end

      private

      def byte
        found = @bytes.getbyte(@at) or raise Refused, "it is cut short"
        @at += 1
        found
      end

      def take(count)
        raise Refused, "it is cut short" if count.negative? || @at + count > @bytes.bytesize
        @at += count
        @bytes.byteslice(@at - count, count)
      end

      # The letters are Marshal's, of its format 4.8.
      def value
        case letter = byte
        when 0x69 then long # i
        when 0x3a then symbol(encoded: false) # :
        when 0x3b then @symbols.fetch(long) # ;
        when 0x5b then array # [
        when 0x7b then hash # {
        when 0x49 then with_encoding # I
        when 0x22 then string # "
        when 0x40 then @objects.fetch(long) # @
        when 0x30 then nil # 0
        when 0x54 then true # T
        when 0x46 then false # F
        when 0x6c then bignum # l
        when 0x66 then float # f
        else raise Refused, "it holds a value of kind #{letter.chr.inspect}, and no profile does"
        end
      rescue IndexError
        raise Refused, "it refers to a value that it does not hold"
      end

      def long
        head = byte
        head -= 256 if head > 127
        return 0 if head.zero?
        return (head.positive? ? head - 5 : head + 5) if head.abs > 4
        number = head.abs.times.sum { |place| byte << (8 * place) }
        head.positive? ? number : number - (1 << (8 * -head))
      end

      def symbol(encoded:)
        place = @symbols.size
        @symbols << nil
        name = take(long)
        encoded ? encode(name) : name.force_encoding(Encoding::US_ASCII)
        @symbols[place] = name.to_sym
      end

      def string = keep(take(long))

      def with_encoding
        case letter = byte
        when 0x22 then encode(string)
        when 0x3a then symbol(encoded: true)
        else raise Refused, "it holds a value of kind #{letter.chr.inspect}, and no profile does"
        end
      end

      def encode(text)
        long.times do
          case [value, value]
          in [:E, true] then text.force_encoding(Encoding::UTF_8)
          in [:E, false] then text.force_encoding(Encoding::US_ASCII)
          in [:encoding, String => name] then text.force_encoding(name)
          in _ then raise Refused, "it holds a string with more than an encoding"
          end
        end
        text
      rescue ArgumentError
        raise Refused, "it names an encoding that there is not"
      end

      def array
        nested do
          list = keep([])
          long.times { list << value }
          list
        end
      end

      def hash
        nested do
          table = keep({})
          long.times do
            key = value
            table[key] = value
          end
          table
        end
      end

      def bignum
        sign = byte
        digits = take(long * 2)
        number = digits.unpack("v*").each_with_index.sum { |digit, place| digit << (16 * place) }
        keep((sign == 0x2d) ? -number : number)
      end

      def float
        text = take(long)
        keep({"inf" => Float::INFINITY, "-inf" => -Float::INFINITY, "nan" => Float::NAN}.fetch(text) { Float(text) })
      rescue ArgumentError
        raise Refused, "it holds a number that is none"
      end

      def keep(object)
        @objects << object
        object
      end

      def nested
        raise Refused, "it is nested deeper than any profile" if (@depth += 1) > MAX_DEPTH
        yield.tap { @depth -= 1 }
      end
    end
  end
end
