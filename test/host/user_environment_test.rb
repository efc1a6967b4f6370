# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "tmpdir"

# What an app's environment is, when bin/exec or Bundler has changed ours.
class UserEnvironmentTest < TunerTest
  LIBRARY = File.expand_path("../../lib", __dir__)

  # @param environment [Hash] of the process that asks; whatever it inherits from Bundler or bin/exec is left out
  # @return [Array(Hash, String)] what an app would get, and what was told on standard error
  def ask(environment, *flags)
    out, err, status = Open3.capture3({"HOME" => Dir.home, **environment}, RbConfig.ruby, *flags, "-I", LIBRARY, "-rjson", "-rpuma_tuner",
      "-e", "puts JSON.generate(PumaTuner::Host::UserEnvironment.of(#{@folder.dump}))", unsetenv_others: true, chdir: "/")
    assert status.success?, err
    [JSON.parse(out), err]
  end

  # @param script [String] of a `ruby` that is first on the PATH
  # @return [String] the folder
  def fake_ruby(script)
    File.write(File.join(@folder, "ruby"), "#!/bin/sh\n#{script}\n", perm: 0o755)
    @folder
  end

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
  end

  def teardown
    FileUtils.remove_entry(@folder)
  end

  OURS = {"PATH" => "/ours:#{ENV["PATH"]}", "BUNDLE_GEMFILE" => "/ours/Gemfile", "BUNDLE_PATH" => "/ours/gems", "BUNDLE_APP_CONFIG" => "/ours/config"}.freeze

  def callers(**values) = OURS.merge(values.transform_keys { |name| "PUMA_TUNER_CALLER_#{name}" })

  test "what bin/exec has changed is as the caller had it" do
    path = "#{fake_ruby("printf 'ruby\\n3.4.1\\n/theirs/ruby\\n'")}:/bin"
    bundle = {BUNDLE_WITHOUT: "development", BUNDLE_GEMFILE: "gemfiles/a.gemfile"}
    found, told = ask(callers(PATH: path, GEM_HOME: "/theirs", RUBYOPT: "-W0", **bundle).merge("LANG" => "C"))
    assert_equal({"PATH" => path, "GEM_HOME" => "/theirs", "RUBYOPT" => "-W0", "LANG" => "C", "HOME" => Dir.home,
                  **bundle.transform_keys(&:to_s)}, found)
    assert_empty told
  end

  test "a Ruby that can't be looked into is not the app's, and that is told" do
    path = "#{fake_ruby("printf 'ruby\\n3.2.9\\n/theirs/ruby\\n'")}:/bin"
    found, told = ask(callers(PATH: path))
    assert_equal "#{RbConfig::CONFIG["bindir"]}:#{path}", found.fetch("PATH")
    assert_match(/ruby is 3\.2\.9 in .*the app is started with puma_tuner's own/, told)
  end

  test "an app that names no Ruby gets ours" do
    found, told = ask(callers(PATH: @folder))
    assert_equal "#{RbConfig::CONFIG["bindir"]}:#{@folder}", found.fetch("PATH")
    assert_match(/there is no ruby/, told)
  end

  test "a version manager's complaint is left to the app's log" do
    path = "#{fake_ruby("echo 'version 9.9.9 is not installed' >&2; exit 127")}:/bin"
    found, told = ask(callers(PATH: path))
    assert_equal path, found.fetch("PATH")
    assert_empty told
  end

  test "an app in a folder that names its own Ruby has that, and not the one that a version manager's shim has started us with" do
    path = "#{RbConfig::CONFIG["bindir"]}:/plugin:#{@folder}/shims:/bin"
    rbenvs = {"PATH" => path, "RBENV_VERSION" => "3.4.5", "RBENV_DIR" => "/here"}
    assert_equal rbenvs, ask(rbenvs).first.slice(*rbenvs.keys)
    File.write(File.join(@folder, ".tool-versions"), "nodejs 22.1.0\n# ruby 3.3.8\n")
    assert_equal rbenvs, ask(rbenvs).first.slice(*rbenvs.keys), "no Ruby's"
    File.write(File.join(@folder, ".tool-versions"), "nodejs 22.1.0\nruby 3.3.8\n")
    assert_equal "/plugin:#{@folder}/shims:/bin", ask(rbenvs).first.fetch("PATH")
    File.delete(File.join(@folder, ".tool-versions"))
    File.write(File.join(@folder, ".ruby-version"), "3.3.8\n")
    assert_equal({"PATH" => "/plugin:#{@folder}/shims:/bin"}, ask(rbenvs).first.slice(*rbenvs.keys))
    asked = rbenvs.merge("RBENV_ROOT" => @folder, "RBENV_VERSION" => "3.2.9")
    assert_equal asked, ask(asked).first.slice(*asked.keys), "no file of rbenv's has it, so it is the user's own choice"
    File.write(File.join(@folder, "version"), "3.2.9\n")
    assert_equal({"PATH" => "/plugin:#{@folder}/shims:/bin", "RBENV_ROOT" => @folder}, ask(asked).first.slice(*asked.keys))
    installed = {"PATH" => "#{RbConfig::CONFIG["bindir"]}:/bin"}
    assert_equal installed, ask(installed).first.slice("PATH")
  end

  test "what Bundler has changed is taken back, and the user's own settings of it stay" do
    theirs = {"PATH" => ENV.fetch("PATH"), "GEM_HOME" => @folder, "BUNDLE_WITHOUT" => "development"}
    nothing = "BUNDLER_ENVIRONMENT_PRESERVER_INTENTIONALLY_NIL"
    bundlers = {"BUNDLE_GEMFILE" => "/a/Gemfile", "RUBYOPT" => "-W0 -rset", "RUBYLIB" => "/a",
                "BUNDLER_ORIG_BUNDLE_GEMFILE" => nothing, "BUNDLER_ORIG_RUBYOPT" => "-W0",
                "BUNDLER_ORIG_RUBYLIB" => nothing}
    found, = ask(theirs.merge(bundlers), "-rbundler")
    assert_equal theirs.merge("RUBYOPT" => "-W0", "HOME" => Dir.home), found
  end
end
