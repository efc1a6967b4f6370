# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class FingerprintTest < TunerTest
  Fingerprint = PumaTuner::Probe::Fingerprint

  # @return [Hash] of a Ruby of its own
  def of_ruby(*words, environment: {}, script: "")
    code = "#{script}; $stdout.write(Marshal.dump(PumaTuner::Probe::Fingerprint.read))"
    environment = {"RUBYOPT" => nil, "PUMA_TUNER_KEY" => "0123456789abcdef" * 2, **environment}
    probe = ["-I", PumaTuner::Probe::LIBRARY_FOLDER, "-rpuma_tuner/probe"]
    Marshal.load(IO.popen([environment, RbConfig.ruby, *words, *probe, "-e", code, err: File::NULL], "rb", &:read))
  end

  test "a fingerprint has the Ruby, YJIT and flags" do
    plain = of_ruby
    assert_equal "ruby #{RUBY_VERSION} #{RUBY_PLATFORM}", plain.fetch([:ruby, nil])
    assert_equal "off", plain.fetch([:yjit, nil])
    assert_equal "", plain.fetch([:ruby, "flags"])
    flagged = of_ruby(environment: {"RUBYOPT" => "--yjit -rpuma_tuner/version"})
    assert_equal "on", flagged.fetch([:yjit, nil])
    assert_equal "--yjit", flagged.fetch([:ruby, "flags"])
    assert_equal [[:ruby, "flags"], [:yjit, nil]], (plain.keys | flagged.keys).reject { |key| plain[key] == flagged[key] }
  end

  test "gems by version, extensions by the gem they come from" do
    facts = of_ruby(environment: {"RUBYOPT" => nil}, script: "gem 'nio4r'; require 'nio'")
    version = facts.fetch([:gem, "nio4r"])
    assert_match(/\A\d+\.\d+/, version)
    assert_equal "nio4r-#{version}", facts.fetch([:extension, "nio4r_ext.so"])
    assert_empty facts.keys.flatten.grep(/puma_tuner.*so/)
  end

  test "a gem that comes with Ruby, when it is loaded, and is not loaded for it" do
    refute_includes of_ruby("--disable-gems"), [:gem, "json"]
    assert_match(/\A\d+\.\d+/, of_ruby("--disable-gems", script: "require 'json'").fetch([:gem, "json"]))
  end

  test "a variable that may be a secret is told apart, not told" do
    one, two = %w[secret-1 secret-2].map { |text| of_ruby(environment: {"API_KEY" => text, "MALLOC_ARENA_MAX" => "2"}) }
    refute_equal one.fetch([:env, "API_KEY"]), two.fetch([:env, "API_KEY"])
    assert_match(/\A\(\h{16}\)\z/, one.fetch([:env, "API_KEY"]))
    assert_equal "2", one.fetch([:env, "MALLOC_ARENA_MAX"])
    refute_includes Marshal.dump(one), "secret"
    other = of_ruby(environment: {"API_KEY" => "secret-1", "PUMA_TUNER_KEY" => "f" * 32})
    refute_equal one.fetch([:env, "API_KEY"]), other.fetch([:env, "API_KEY"]), "without the key nobody can try it out"
  end

  test "variables whose name or value looks like a secret are left out" do
    told = of_ruby(environment: {"RAILS_ENV" => "test", "RAILS_MASTER_KEY" => "secret-1",
                                 "RUBYGEMS_API_KEY" => "secret-2", "RAILS_CACHE_URL" => "redis://u:secret-3@db"})
    assert_equal "test", told.fetch([:env, "RAILS_ENV"])
    %w[RAILS_MASTER_KEY RUBYGEMS_API_KEY RAILS_CACHE_URL].each { |name| assert_match(/\A\(\h{16}\)\z/, told.fetch([:env, name]), name) }
  end

  test "paths and variables may have any letters, also where no locale is set" do
    original = Dir["/usr/lib/*-linux-*/libBrokenLocale.so.1"].first or skip "no C library in Debian's place"
    Dir.mktmpdir do |folder|
      library = File.join(folder, "gems/größe-1.0/lib/größe.so")
      FileUtils.mkdir_p(File.dirname(library))
      FileUtils.cp(original, library)
      environment = {"LC_ALL" => "C", "LANG" => "C", "LD_PRELOAD" => library, "RAILS_ROOM" => "größe", "RUBYOPT" => "-I#{folder}/größe"}
      facts = of_ruby("-E", "US-ASCII", environment:, script: '$LOADED_FEATURES << ENV.fetch("LD_PRELOAD")')
      told = {[:preloaded, nil] => "größe.so", [:env, "RAILS_ROOM"] => "größe", [:ruby, "flags"] => "-I#{folder}/größe", [:extension, "größe.so"] => "größe-1.0"}
      assert_equal told, facts.slice(*told.keys)
    end
  end

  test "a library that is preloaded, when it is here" do
    library = Dir["/usr/lib/*-linux-*/libBrokenLocale.so.1"].first or skip "no C library in Debian's place"
    assert_equal "", of_ruby.fetch([:preloaded, nil])
    assert_equal File.basename(File.realpath(library)), of_ruby(environment: {"LD_PRELOAD" => library}).fetch([:preloaded, nil])
    assert_equal "", of_ruby(environment: {"LD_PRELOAD" => "/nonexistent/libBrokenLocale.so.1"}).fetch([:preloaded, nil])
  end

  test "a key is a text for people and documents, and comes back from it" do
    [[:ruby, nil], [:ruby, "flags"], [:gem, "json"], [:extension, "a b.so"]].each { |key| assert_equal key, Fingerprint.key(Fingerprint.text(key)) }
    assert_equal({[:gem, "json"] => "2.7.2", [:yjit, nil] => "on"}, Fingerprint.from_document("gem json" => "2.7.2", "yjit" => "on"))
  end

  test "where gems and Ruby are installed, and a server's files are, makes no difference" do
    assert_equal of_ruby(environment: {"PUMA_TUNER_DIRECTORY" => "/a", "TMPDIR" => "/tmp", "PIDFILE" => "/a/server.pid"}), of_ruby(environment: {"PUMA_TUNER_DIRECTORY" => "/b"})
  end
end
