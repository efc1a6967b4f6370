# frozen_string_literal: true

require "test_helper"
require "stringio"
require "tmpdir"
require "support/command_line"

# Where a command's files go when the user has named no place.
class ResultsTest < TunerTest
  include CommandLine
  include PumaTuner

  def setup
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    @here = Dir.pwd
    @err = StringIO.new
    %w[app here].each { |name| Dir.mkdir(File.join(@folder, name)) }
    Dir.chdir(File.join(@folder, "here"))
  end

  def teardown
    CLI::Results.remove_empty
    Dir.chdir(@here)
    FileUtils.remove_entry(@folder)
  end

  def app(*parts) = File.join(@folder, "app", *parts)

  def path(given = nil, **options) = CLI::Results.path(given, "a.json", err: @err, **options)

  test "below the app's tmp, by whatever says where the app is" do
    File.write(app("blocks.rb"), "")
    expected = app("tmp/puma_tuner/a.json")
    assert_equal expected, path(app: ["bundle", "exec", "puma"], directory: "../app")
    assert_equal expected, path(app: ["../app/config.ru"])
    assert_equal expected, path(app: ["../app/a.ru", "../app/b.ru"])
    assert_equal expected, path(block: "../app/blocks.rb", app: [])
    assert_equal expected, path(recorded: expected)
    File.write(app("served"), "")
    assert_equal expected, path(app: ["../app/served"]), "a config.ru of another name"
    assert_equal "*\n", File.read(app("tmp/puma_tuner/.gitignore"))
    assert_empty @err.string
  end

  test "below the current folder's when nothing says where the app is" do
    here = File.join(@folder, "here/tmp/puma_tuner/a.json")
    assert_equal here, path(app: ["bundle", "exec", "puma"])
    File.write(app("serve"), "#!/bin/sh\n", perm: 0o755)
    assert_equal here, path(app: ["../app/serve"]), "a program is no file of the app's that says where it is"
    assert_equal here, path(recorded: app("a.json"))
    assert_equal here, path(directory: "../nowhere")
    refute_path_exists File.join(@folder, "nowhere")
  end

  test "a place that the user names stays as it is" do
    assert_equal "b.json", path("b.json", directory: "../app")
    assert_empty Dir.children(app)
  end

  test "elsewhere, and told, where nothing can be written" do
    File.write(app("tmp"), "a file, and no folder")
    assert_equal File.join(@folder, "here/tmp/puma_tuner/a.json"), path(directory: "../app")
    assert_equal "puma_tuner: nothing can be written in #{app("tmp/puma_tuner")}; results go to #{@folder}/here/tmp/puma_tuner\n", @err.string
    CLI::Results.remove_empty
    File.write("tmp", "neither here")
    before = ENV["PUMA_TUNER_CACHE"]
    ENV["PUMA_TUNER_CACHE"] = File.join(@folder, "cache")
    assert_equal File.join(@folder, "cache/results/a.json"), path(directory: "../app")
  ensure
    ENV["PUMA_TUNER_CACHE"] = before
  end

  test "a folder that got no result is taken away, and what was there stays" do
    Dir.mkdir(app("tmp"))
    path(directory: "../app")
    path
    CLI::Results.remove_empty
    assert_equal [[], []], [Dir.children(app("tmp")), Dir.children(".")]
    File.write(path, "{}")
    CLI::Results.remove_empty
    assert_equal %w[.gitignore a.json], Dir.children("tmp/puma_tuner").sort
  end

  test "git does not see it" do
    system("git", "init", "-q", app, exception: true)
    File.write(path(directory: "../app"), "{}")
    assert_empty IO.popen(["git", "-C", app, "status", "--porcelain"], &:read)
  end

  test "a command tells the path, and one that is refused leaves nothing" do
    File.write(app("access.log"), %(192.0.2.1 - - [02/Mar/2026:10:16:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "-"\n))
    result = puma_tuner("requests", "--from", "access.log", folder: app)
    assert_equal 0, result.code, result.err
    assert_includes result.out, "requests: #{app("tmp/puma_tuner/requests.txt")}"
    assert_mistake(/--from nowhere|there is no|nowhere/, puma_tuner("requests", "--from", "nowhere.log", folder: File.join(@folder, "here")))
    assert_empty Dir.children(File.join(@folder, "here"))
  end
end
