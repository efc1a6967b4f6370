# frozen_string_literal: true

require "test_helper"

class KeyedHashTest < TunerTest
  KeyedHash = PumaTuner::Probe::KeyedHash
  KEY = (0..15).to_a.pack("C*").unpack1("H*")

  test "it is SipHash-2-4, by the vectors of its authors" do
    # Appendix A of the paper, and two of vectors.h of the reference
    # implementation, whose bytes stand the other way round.
    assert_equal "a129ca6149be45e5", KeyedHash.of((0..14).to_a.pack("C*"), key: KEY)
    assert_equal "726fdb47dd0e0e31", KeyedHash.of("", key: KEY)
    assert_equal "93f5f5799a932462", KeyedHash.of((0..7).to_a.pack("C*"), key: KEY)
  end

  test "another key is another hash, the same process's is the same" do
    refute_equal KeyedHash.of("secret", key: KEY), KeyedHash.of("secret", key: KEY.reverse)
    assert_equal KeyedHash.of("secret"), KeyedHash.of("secret")
    refute_equal KeyedHash.of("secret"), KeyedHash.of("secret", key: KEY)
  end
end
