# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class MaskingTest < TunerTest
  Masking = PumaTuner::Host::Masking
  HIDDEN = /\(\h{16}\)/

  def masked(*words) = Masking.words(words).join(" ")

  test "values of variables are hidden, but for those that say how Ruby and its servers work, and plain numbers" do
    factors = Masking.factors("env.API_KEY" => "12", "env.DATABASE_URL" => "mysql2://shop:pw@db/shop",
      "env.RUBY_YJIT_ENABLE" => "1", "env.SLEEP_MS" => "30", "yjit" => "on",
      "command" => "env TOKEN=abc falcon --password s3cret -n 4", "env.RAILS_MASTER_KEY" => "abc",
      "env.RAILS_LOG_URL" => "udp://u:abc@h", "env.RAILS_ENV" => "test", "puma.control_auth_token" => "abc",
      "puma.queue_requests" => "false", "gem.devise-token_auth" => "1.2.3")
    hidden = %w[env.API_KEY env.DATABASE_URL env.RAILS_MASTER_KEY env.RAILS_LOG_URL puma.control_auth_token]
    hidden.each { |name| assert_match(/\A#{HIDDEN}\z/o, factors[name], name) }
    shown = {"env.RUBY_YJIT_ENABLE" => "1", "env.SLEEP_MS" => "30", "yjit" => "on", "env.RAILS_ENV" => "test",
             "puma.queue_requests" => "false", "gem.devise-token_auth" => "1.2.3"}
    assert_equal shown, factors.slice(*shown.keys)
    refute_match(/abc|s3cret/, factors["command"])
    assert_match(/falcon .* -n 4\z/, factors["command"])
  end

  test "in commands, what options, queries, headers, addresses, paths and variants say of secrets is hidden, and nothing else" do
    plain = %w[puma_tuner prove config.ru --variant old:gem.json=2.7.2,yjit=on
      --variant new:gem.omniauth=2.0,env.SLEEP_MS=1|2 --topologies 1x5,2x5 --path /articles,/b/12/edit --connections 4
      --factor env.SLEEP_MS=1,2 --url http://127.0.0.1:9292/articles -b tcp://127.0.0.1:9292 --expect] << "p99 <= 200"
    assert_equal plain, Masking.words(plain)
    secrets = ["--token", "secret-1", "--token=secret-2", "--variant", "a:env.DB=secret-3,yjit=on", "--path",
      "/x?key=secret-4&page=secret-5", "https://user:secret-6@host/x", "Authorization: Bearer secret-7", "DB=secret-8",
      "Cookie: secret-9"]
    refute_match(/secret/, masked(*secrets))
    assert_match(/--token \(\h+\) --token=\(\h+\) --variant a:env\.DB=\(\h+\),yjit=on --path /, masked(*secrets))
    assert_match(/ --path \/x\?key=\(\h+\)&page=\(\h+\)/, masked(*secrets))
  end

  {
    "several values of a variable" => ["--factor", "env.DB=abc,abc|abc"],
    "a value with commas" => ["--variant", "a:env.DB=p:abc,abc,env.X=abc abc,yjit=on"],
    "a lower-case name" => ["password=abc"],
    "a password with an @" => ["postgres://u:abc@abc@h/db"],
    "a query that is one value" => ["--path", "/x?abc"],
    "a parameter without a name" => ["--path", "/x?a=1&abc,/y?abc&b=2"],
    "a form" => ["-d", "user=1&password=abc&x=abc"],
    "a query's value with commas" => ["http://h/x?ids=abc,abc&y=abc"],
    "a path's token" => ["--path=/a,/reset/abcK3x9Qz7Lm2Vb8Rt4?x=1"],
    "an address's token" => ["--url", "http://h:1/abc-abc@abc/x?abc=abc"],
    "keys" => ["--private-key", "abc", "--master-key=abc"],
    "a header of any name" => ["-H", "X-Internal: abc", "--header", "X-Other: abc"],
    "what a shell is given" =>
      ["sh", "-c", "curl -H 'Authorization: Bearer abc' --token abc \"--api-key=abc\" http://u:abc@h"],
    "JSON" => ["{\"password\":\"abc\"}"]
  }.each do |what, words|
    test "#{what}: hidden in a command" do
      told = masked(*words)
      # A hash may hold these letters, too.
      refute_match(/abc(?!=)/, told.gsub(HIDDEN, "()"))
      assert_match(HIDDEN, told)
    end
  end

  test "values of one variable are told apart" do
    first, second = masked("--factor", "env.DB=abc,def").scan(HIDDEN)
    refute_equal first, second
    assert_equal first, Masking.factors("env.DB" => "abc")["env.DB"]
  end

  test "the same secret is told by the same hash in all documents of an app, and by another one in another's" do
    Masking.begin("/tmp/one")
    one = Masking.hide("secret")
    assert_equal one, Masking.hide("secret")
    Masking.begin("/tmp/two")
    refute_equal one, Masking.hide("secret")
    Masking.begin("/tmp/one")
    assert_equal one, Masking.hide("secret"), "another run"
  end

  test "the user's key is the owner's alone, made once, and anew when it is none" do
    Dir.mktmpdir do |folder|
      hidden = Array.new(3) { hidden_by_another_process(folder) }
      path = File.join(folder, "puma_tuner/key")
      assert_equal [1, 0o600], [hidden.uniq.size, File.stat(path).mode & 0o777]
      ["", "\xFF\n"].each do |none|
        File.binwrite(path, none)
        refute_includes [hidden.first, ""], hidden_by_another_process(folder)
        assert_match(/\A\h{32}\z/, File.read(path))
      end
    end
  end

  def hidden_by_another_process(state)
    script = "PumaTuner::Host::Masking.begin('/tmp/one'); print PumaTuner::Host::Masking.hide('secret')"
    IO.popen([{"XDG_STATE_HOME" => state}, RbConfig.ruby, "-I", PumaTuner::LIBRARY_PATH, "-rpuma_tuner", "-e", script], &:read)
  end
end
