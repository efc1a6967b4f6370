# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Variants as commands. Those that need a checkout or gems are in test/integration.
class PreparationTest < TunerTest
  include PumaTuner

  def setup
    @folder = File.realpath(Dir.mktmpdir)
    %w[config.ru other.ru puma.rb].each { |name| File.write(File.join(@folder, name), "# #{name}") }
  end

  def teardown = FileUtils.rm_rf(@folder)

  def ready(environment: {"PATH" => "/bin"}, words: [Gem.ruby, "-S", "puma", "config.ru"], **factors)
    variant = Prove::Variant.new(name: "a", factors: factors.transform_keys(&:to_s))
    command = Host::Command.new(words:, directory: @folder, environment:)
    Prove::Preparation.new(variants: [variant], command:, rackup: File.join(@folder, "config.ru"), folder: @folder).call(variant)
  end

  def mistake(**factors) = assert_raises(UsageError) { ready(**factors) }.message

  test "a variant without factors is the command as it is" do
    found = ready
    assert_equal [Gem.ruby, "-S", "puma", "config.ru"], found.command.words
    assert_nil found.topology
    refute found.other_server
    assert_equal({"PATH" => "/bin"}, found.command.environment)
  end

  test "a variant can set the environment and flags" do
    found = ready("env.A": "1", rubyopt: "--yjit-mem-size=64", environment: {"RUBYOPT" => "-w"}).command.environment
    assert_equal({"A" => "1", "RUBYOPT" => "-w --yjit-mem-size=64"}, found)
    assert_equal "1", ready(yjit: "on").command.environment["RUBY_YJIT_ENABLE"]
    assert_equal "1", ready(yjit: "off").command.environment[PumaTuner::Probe::YjitOff::VARIABLE]
    refute_includes ready(yjit: "on").command.environment, PumaTuner::Probe::YjitOff::VARIABLE
    refute_includes ready(yjit: "off", environment: {"RUBY_YJIT_ENABLE" => "1"}).command.environment, "RUBY_YJIT_ENABLE"
  end

  test "what a variant sets holds over what the command sets by env as it starts" do
    words = %w[/usr/bin/env -i -u C A=0 B=2 puma B=3]
    assert_equal words, ready(words:).command.words
    assert_equal %w[/usr/bin/env -i -u C A=0 B=1 puma B=3], ready("env.B": "1", words:).command.words
    assert_equal %w[puma B=3], ready("env.B": "1", words: %w[puma B=3]).command.words
    [%w[-u B], %w[-uB], %w[--unset B], %w[--unset=B]].each do |unset|
      found = ready("env.B": "1", words: ["env", "-u", "C", *unset, "A=0", "puma", *unset]).command
      assert_equal [["env", "-u", "C", "A=0", "puma", *unset], "1"], [found.words, found.environment["B"]]
    end
  end

  test "a variant can set Puma's options" do
    found = ready(topology: "2x5", "puma.queue_requests": "false", config: "puma.rb")
    assert_equal Topology.parse("2x5"), found.topology
    assert_equal({"queue_requests" => "false", "config" => File.join(@folder, "puma.rb")}, found.puma_options)
    assert_equal({"threads" => "1:5", "workers" => "2"}, ready(threads: "1:5", workers: "2").puma_options)
  end

  test "a variant can run another app, another server or another Ruby" do
    assert_equal File.join(@folder, "other.ru"), ready(app: "other.ru").command.words.last
    other = ready(command: "ruby server.rb -p {port}")
    assert_equal %w[ruby server.rb -p {port}], other.command.words
    assert other.other_server
  end

  test "another app is found where the command is given, too" do
    Dir.chdir(File.dirname(@folder)) do
      assert_equal File.join(@folder, "other.ru"), ready(app: "#{File.basename(@folder)}/other.ru").command.words.last
    end
  end

  test "the content of a named file is part of what ran" do
    refute_equal ready.facts.fetch([:file, "app"]), ready(app: "other.ru").facts.fetch([:file, "app"])
    assert_match(/\A\h{12}\z/, ready(config: "puma.rb").facts.fetch([:file, "config"]))
  end

  test "a set-up command that fails ends it, with its words" do
    assert_match(/setup=sh -c "echo why; exit 1" failed\.\nIts last lines:\n  \| why/, mistake(setup: %(sh -c "echo why; exit 1")))
    assert_match(/could not be started/, mistake(setup: "no-such-program"))
  end

  test "a factor that names something missing is a usage error" do
    assert_match(/app=none.ru: there is no such file/, mistake(app: "none.ru"))
    assert_match(/app=none.ru: there is no such file/, mistake(app: "none.ru", command: "serve {port}"))
    assert_match(/config=none.rb/, mistake(config: "none.rb"))
    %w[app config gemfile ruby preload].each do |key|
      assert_match(/\A#{key}=~nobody-of-that-name\/a: .*; give another path\z/, mistake(key.to_sym => "~nobody-of-that-name/a"))
    end
    File.chmod(0, File.join(@folder, "other.ru"))
    # Root may read it.
    assert_match(/app=other.ru: there is no such file in .* that can be read/, mistake(app: "other.ru")) unless File.readable?(File.join(@folder, "other.ru"))
    assert_match(/no such Ruby.*ruby-9.9.9/m, mistake(ruby: "9.9.9"))
    assert_match(/libjemalloc2/, mistake(preload: "libnone.so"))
    assert_match(/git=HEAD: git rev-parse failed .*not a git repository/, mistake(git: "HEAD"))
  end

  # The folder as a repository, in which git ignores keys, logs and what is large.
  def repository
    write(".gitignore" => "/config/*.key\n/.env*\n/log/*\n/node_modules\n/big.bin\n/tmp\n", "config/puma.rb" => "threads 1, 1\n")
    git("init", "--quiet", ".")
    git("add", ".")
    git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "All")
    write("config/master.key" => "0123", ".env" => "A=1", "log/development.log" => "x", "node_modules/a/b.js" => "x", "big.bin" => "x" * 200_000, "tmp/x.key" => "1")
  end

  def write(files)
    files.each do |name, text|
      FileUtils.mkdir_p(File.dirname(File.join(@folder, name)))
      File.write(File.join(@folder, name), text)
    end
  end

  def git(*words) = system("git", "-C", @folder, *words, exception: true)

  # @return [Prove::Preparation::Ready]
  def checkout(copied: [], **factors)
    variant = Prove::Variant.new(name: "a", factors: {"git" => "HEAD", **factors.transform_keys(&:to_s)})
    command = Host::Command.new(words: %w[puma config.ru], directory: @folder, environment: {"PATH" => ENV["PATH"]})
    checkouts = File.join(@folder, "tmp/checkouts").tap { |path| FileUtils.mkdir_p(path) }
    Prove::Preparation.new(variants: [variant], command:, rackup: File.join(@folder, "config.ru"), folder: checkouts, copied:).call(variant)
  end

  test "another app of a commit is the commit's, and not what has become of it since" do
    repository
    write("other.ru" => "# changed since")
    assert_equal "# other.ru", File.read(checkout(app: "other.ru").command.words.last)
  end

  test "a checkout tells what of the app's own it lacks as git ignores it: few and small files, no logs" do
    repository
    ready = checkout
    assert_equal [%w[.env config/master.key], [".", "..", ".git", ".gitignore", "config", "config.ru", "other.ru", "puma.rb"]],
      [ready.ignored, Dir.entries(ready.command.directory).sort]
    assert_empty ready(app: "other.ru").ignored
  end

  # @return [Hash{String => String}] environment of a checkout in a place of its own, whose gems are its own
  def bundled(place, environment: {}, **factors)
    variant = Prove::Variant.new(name: "a", factors: {"git" => "HEAD", **factors.transform_keys(&:to_s)})
    command = Host::Command.new(words: %w[puma config.ru], directory: @folder, environment: {"PATH" => ENV["PATH"], **environment})
    checkouts = File.join(@folder, "tmp", place).tap { |path| FileUtils.mkdir_p(path) }
    Prove::Preparation.new(variants: [variant], command:, folder: checkouts).call(variant).command.environment
  end

  # @return [Array<String>] folder of its Gemfile and of its gems
  def bundle_of(place, **factors) = bundled(place, **factors).values_at("BUNDLE_GEMFILE", "BUNDLE_PATH")

  test "checkouts of one Gemfile have their gems from one place, wherever they lie" do
    ENV["PUMA_TUNER_CACHE"], cache = File.join(@folder, "cache"), ENV["PUMA_TUNER_CACHE"]
    write("Gemfile" => "")
    repository
    (first, gems), (second, same) = bundle_of("one"), bundle_of("two")
    assert_equal [gems, "#{@folder}/cache"], [same, gems[%r{.*/cache}]]
    assert_equal [true, true, first.size], [first.start_with?("#{@folder}/tmp/one/"), second.start_with?("#{@folder}/tmp/two/"), second.size]
    write("Gemfile" => "# another\n")
    git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--all", "--message", "Gems")
    refute_equal gems, bundle_of("three").last
  ensure
    ENV["PUMA_TUNER_CACHE"] = cache
  end

  test "gems of a variant's own are had with the groups and the credentials that the user's environment names" do
    ENV["PUMA_TUNER_CACHE"], cache = File.join(@folder, "cache"), ENV["PUMA_TUNER_CACHE"]
    write("Gemfile" => "")
    repository
    users = {"BUNDLE_WITHOUT" => "test", "BUNDLE_GEMS__EXAMPLE__ORG" => "a:b"}
    others = {"BUNDLE_DEPLOYMENT" => "1", "BUNDLER_VERSION" => "0.1", "BUNDLE_PATH__SYSTEM" => "true", "BUNDLE_LOCAL__RACK" => "/none"}
    found = bundled("one", environment: {**users, **others, "BUNDLE_PATH" => "/none"})
    assert_equal [users, {}], [found.slice(*users.keys), found.slice(*others.keys)]
    refute_equal "/none", found.fetch("BUNDLE_PATH")
  ensure
    ENV["PUMA_TUNER_CACHE"] = cache
  end

  test "it is given what --copy names, with its mode, and lacks it no more" do
    repository
    File.chmod(0o600, File.join(@folder, "config/master.key"))
    ready = checkout(copied: ["config/master.key"])
    copy = File.join(ready.command.directory, "config/master.key")
    assert_equal [%w[.env], "0123", 0o600], [ready.ignored, File.read(copy), File.stat(copy).mode & 0o777]
  end

  test "what is not the app's is not copied, and nothing of the commit is replaced" do
    repository
    {"config/none.key" => /no such file in/, "/etc/hostname" => /no such file in/, "../#{File.basename(@folder)}x" => /no such file in/, "log" => /no such file in/,
     "~nobody-of-that-name/a" => /give another path/,
     "config/puma.rb" => /git=HEAD has that file, which is not replaced/}.each do |path, message|
      assert_match(/\A--copy #{Regexp.escape(path)}: .*#{message}/, assert_raises(UsageError) { checkout(copied: [path]) }.message)
    end
    assert_equal "0123", File.read(File.join(checkout(copied: [File.join(@folder, "config/master.key")]).command.directory, "config/master.key"))
  end
end
