# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "tmpdir"

# The extension for an app whose Ruby is another than the one that this was compiled for. Here it is the same one, and a
# copy of the library without what was compiled.
class ExtensionTest < TunerTest
  time_limit 120

  PROBE = File.expand_path("..", __dir__)

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    FileUtils.cp_r(File.join(PROBE, "lib"), @folder)
    FileUtils.rm_rf(File.join(@folder, "lib/puma_tuner/probe/native"))
    FileUtils.mkdir_p(File.join(@folder, "ext/puma_tuner_probe"))
    FileUtils.cp(Dir[File.join(PROBE, "ext/puma_tuner_probe/*.{c,h,rb}")], File.join(@folder, "ext/puma_tuner_probe"))
    FileUtils.mkdir(File.join(@folder, "run"))
  end

  def teardown
    FileUtils.remove_entry(@folder)
  end

  # As in a server that a command starts.
  # @return [Array(String, String)] what it prints, and its standard error
  def start(script = "puts PumaTuner::Probe::GvlClock.why_not || PumaTuner::Probe::GvlClock.start", **environment)
    environment = {
      "PATH" => ENV.fetch("PATH"), "RUBYOPT" => "-rpuma_tuner/autorun", "RUBYLIB" => File.join(@folder, "lib"),
      "PUMA_TUNER_DIRECTORY" => File.join(@folder, "run"), "PUMA_TUNER_METER" => "1",
      "PUMA_TUNER_EXTENSIONS" => File.join(@folder, "cache"), **environment.transform_keys(&:to_s)
    }
    out, err, status = Open3.capture3(environment, RbConfig.ruby, "-e", script, unsetenv_others: true)
    assert status.success?, err
    [out.chomp, err]
  end

  def compiled = Dir[File.join(@folder, "cache/*/puma_tuner_probe.so")]

  test "it is compiled once, kept, and works" do
    out, err = start
    assert_equal "true", out
    assert_includes err, "compiling its extension for Ruby #{RUBY_VERSION}, once"
    before = compiled.map { |path| File.stat(path).ino }
    assert_equal 1, before.size
    out, err = start("puts PumaTuner::Probe::GvlClock.start, $LOADED_FEATURES.grep(/puma_tuner_probe\\.so/)")
    assert_equal ["true", *compiled], out.lines(chomp: true)
    assert_empty err
    assert_equal before, compiled.map { |path| File.stat(path).ino }
  end

  test "servers that start at the same time compile it once" do
    told = Array.new(3) { Thread.new { start } }.map(&:value)
    assert_equal %w[true true true], told.map(&:first)
    assert_equal 1, compiled.size
    assert_empty Dir[File.join(@folder, "cache/*/*.partial")]
  end

  test "where it can't be compiled the reason is told, and it is tried once in a run" do
    out, err = start(PATH: "/nowhere")
    assert_match(/could not be compiled: .*is there a C compiler/, out)
    assert_match(/compiling its extension for Ruby/, err)
    assert_empty start(PATH: "/nowhere").last
    assert_empty compiled
  end

  test "a reason in any letters can be told where no locale is set" do
    File.write(File.join(@folder, "run/extension-failure-#{RUBY_VERSION}"), "größe.h is not there\n")
    out, = start("require 'json'; puts JSON.generate([PumaTuner::Probe::GvlClock.why_not])")
    assert_includes JSON.parse(out).first, "(it could not be compiled: größe.h is not there)"
  end

  test "an app's server without a folder for it is left alone" do
    out, err = start(PUMA_TUNER_EXTENSIONS: nil)
    assert_match(/the extension is not there/, out)
    assert_empty err
  end

  test "with M:N threads it is not loaded, by whichever number they were asked for" do
    set = /\ARUBY_MN_THREADS is set/
    {"0" => /\Athe extension is not there/, "1" => set, "2" => set, "01" => set}.each do |number, why_not|
      out, = start("puts PumaTuner::Probe::GvlClock.why_not", PUMA_TUNER_EXTENSIONS: nil, RUBY_MN_THREADS: number)
      assert_match why_not, out, number
    end
  end

  test "of one that is there and does not load, the loader's words are the reason" do
    shipped = File.join(@folder, "lib", "#{PumaTuner::Probe::Extension::SHIPPED}.so")
    FileUtils.mkdir_p(File.dirname(shipped))
    File.write(shipped, "no library")
    out, = start("puts PumaTuner::Probe::GvlClock.why_not")
    assert_match(/\Athe extension does not load here: .*(too short|invalid ELF header)/, out)
    refute_match(/compiler/, out)
  end

  # musl has no macro of its own: without glibc's, the code is what it would be there.
  test "the library asks for no room of the start's for its variables of threads, but of glibc, as musl refuses it" do
    File.write(File.join(@folder, "no_glibc.h"), "#include <features.h>\n#undef __GLIBC__\n")
    assert_match(/STATIC_TLS/, flags_of_library)
    refute_match(/STATIC_TLS/, flags_of_library("-include", File.join(@folder, "no_glibc.h")))
  end

  # @return [String] what the loader is told of a library of these sources
  def flags_of_library(*flags)
    includes = RbConfig::CONFIG.values_at("rubyarchhdrdir", "rubyhdrdir").flat_map { |folder| ["-I", folder] }
    sources = Dir[File.join(PROBE, "ext/puma_tuner_probe/*.c")]
    output, status = Open3.capture2e(*RbConfig::CONFIG["CC"].split, *flags, "-std=gnu11", "-O1", "-w", "-fPIC", "-shared",
      "-DHAVE_RB_INTERNAL_THREAD_SPECIFIC_GET=1", "-DHAVE_POSIX_FALLOCATE=1", *includes, *sources,
      "-o", File.join(@folder, "library.so"))
    assert status.success?, output
    Open3.capture2e("readelf", "-d", File.join(@folder, "library.so")).first
  end
end
