# frozen_string_literal: true

module PumaTuner
  module Probe
    # Tells texts apart without keeping them: SipHash-2-4 (Aumasson and Bernstein, 2012), 64 bits. Who has not got the
    # key can neither compute a text back, nor find out by trying whether it is the one that he thinks. In Ruby, as a
    # serving process loads no library for us.
    module KeyedHash
      # This variable tells a server the key: 32 hexadecimal digits, the same for all processes whose texts are
      # compared.
      VARIABLE = "PUMA_TUNER_KEY"

      MASK = (1 << 64) - 1
      private_constant :MASK

      module_function

      # @return [String] of the environment; else one of this process's own
      def key = ENV.fetch(VARIABLE) { @key ||= File.binread("/dev/urandom", 16).unpack1("H*") }

      # @param text [String]
      # @param key [String] 32 hexadecimal digits
      # @return [String] 16 hexadecimal digits
      def of(text, key: self.key)
        k0, k1 = [key].pack("H*").unpack("Q<2")
        state = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]
        bytes = text.b
        whole = bytes.bytesize / 8
        last = bytes.byteslice(whole * 8, 8).ljust(8, "\0").unpack1("Q<") | (bytes.bytesize & 0xff) << 56
        [*bytes.unpack("Q<#{whole}"), last].each do |word|
          state[3] ^= word
          2.times { mix(state) }
          state[0] ^= word
        end
        state[2] ^= 0xff
        4.times { mix(state) }
        format("%016x", state.reduce(:^))
      end

      # One round.
      def mix(v)
        v[0] = v[0] + v[1] & MASK
        v[1] = turned(v[1], 13) ^ v[0]
        v[0] = turned(v[0], 32)
        v[2] = v[2] + v[3] & MASK
        v[3] = turned(v[3], 16) ^ v[2]
        v[0] = v[0] + v[3] & MASK
        v[3] = turned(v[3], 21) ^ v[0]
        v[2] = v[2] + v[1] & MASK
        v[1] = turned(v[1], 17) ^ v[2]
        v[2] = turned(v[2], 32)
      end

      def turned(word, bits) = (word << bits | word >> (64 - bits)) & MASK
      private_class_method :mix, :turned
    end
  end
end
