# frozen_string_literal: true

require "test_helper"

class MaskingTest < TunerTest
  Masking = PumaTuner::Host::Masking
  HIDDEN = /\(\h{16}\)/

  def masked(*words) = Masking.words(words).join(" ")

  test "values of variables are hidden, but for those that say how Ruby and its servers work, and plain numbers" do
    factors = Masking.factors("env.API_KEY" => "12", "env.DATABASE_URL" => "mysql2://shop:pw@db/shop", "env.RUBY_YJIT_ENABLE" => "1", "env.SLEEP_MS" => "30", "yjit" => "on",
      "command" => "env TOKEN=abc falcon --password s3cret -n 4")
    assert_match(/\A#{HIDDEN}\z/o, factors["env.API_KEY"])
    assert_match(/\A#{HIDDEN}\z/o, factors["env.DATABASE_URL"])
    assert_equal %w[1 30 on], factors.values_at("env.RUBY_YJIT_ENABLE", "env.SLEEP_MS", "yjit")
    refute_match(/abc|s3cret/, factors["command"])
    assert_match(/falcon .* -n 4\z/, factors["command"])
  end

  test "in commands, what options, queries, headers, addresses and variants say of secrets is hidden, and nothing else" do
    plain = %w[puma_tuner prove config.ru --variant old:gem.json=2.7.2,yjit=on --topologies 1x5,2x5 --path /articles,/b --connections 4 --expect] << "p99 <= 200"
    assert_equal plain, Masking.words(plain)
    secrets = ["--token", "abc-1", "--token=abc-2", "--variant", "a:env.DB=abc-3,yjit=on", "--path", "/x?key=abc-4&page=abc-5", "https://user:abc-6@host/x", "Authorization: Bearer abc-7", "DB=abc-8", "Cookie: abc-9"]
    refute_match(/abc/, masked(*secrets))
    assert_match(/--token \(\h+\) --token=\(\h+\) --variant a:env\.DB=\(\h+\),yjit=on --path \/x\?key=\(\h+\)&page=\(\h+\)/, masked(*secrets))
  end

  test "the same secret is told by the same hash in one document, and by another one in another" do
    Masking.begin("/tmp/one.json")
    one = Masking.hide("secret")
    assert_equal one, Masking.hide("secret")
    Masking.begin("/tmp/two.json")
    refute_equal one, Masking.hide("secret")
    Masking.begin("/tmp/one.json")
    assert_equal one, Masking.hide("secret"), "a proof that goes on"
  end
end
