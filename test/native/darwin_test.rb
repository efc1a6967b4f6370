# frozen_string_literal: true

require "test_helper"
require "open3"

# No Mac is here to run on. What would be compiled there is compiled here, against this system's headers without what Darwin's lack, and
# stand-ins for what only Darwin's have (test/support/darwin).
class DarwinTest < TunerTest
  PROJECT = File.expand_path("../..", __dir__)
  STANDINS = File.join(PROJECT, "test/support/darwin")

  # What extconf.rb would find there.
  FOUND = {
    "probe/ext/puma_tuner_probe" => %w[HAVE_MACH_MACH_H HAVE_CLOCK_GETTIME_NSEC_NP HAVE_RB_INTERNAL_THREAD_SPECIFIC_GET],
    "ext/puma_tuner_load" => %w[HAVE_POLL], "ext/puma_tuner_sim" => []
  }.freeze

  # @return [Array(String, Boolean)] what the compiler said, and whether it was content
  def compile(path, defined, *flags, to: "-fsyntax-only")
    includes = [STANDINS, *RbConfig::CONFIG.values_at("rubyarchhdrdir", "rubyhdrdir")].flat_map { |folder| ["-I", folder] }
    output, status = Open3.capture2e(*RbConfig::CONFIG["CC"].split, "-std=gnu11", *to, "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror",
      "-U__linux__", "-U__linux", "-Ulinux", *defined.map { |name| "-D#{name}=1" }, *includes, *flags, path)
    [output, status.success?]
  end

  test "each file of the extensions is valid C on Darwin, as far as its headers are known here" do
    FOUND.each do |folder, defined|
      sources = Dir[File.join(PROJECT, folder, "*.c")]
      assert_operator sources.size, :>, 5
      sources.each { |path| compile(path, defined, "-D_GNU_SOURCE").then { |output, success| assert success, "#{path}:\n#{output}" } }
    end
  end

  test "the probe's pieces for Darwin find a thread's CPU time by Ruby's id of it, keep no port, and reserve what fits" do
    Dir.mktmpdir do |folder|
      probe = File.join(PROJECT, "probe/ext/puma_tuner_probe")
      output, success = compile(File.join(STANDINS, "run.c"), FOUND.fetch("probe/ext/puma_tuner_probe"), "-D_GNU_SOURCE", "-I", probe, to: ["-o", "#{folder}/run"])
      assert success, output
      told, status = Open3.capture2e("#{folder}/run", "#{folder}/file")
      assert status.success?
      none_left = "0 ports and 0 bytes left"
      assert_equal ["1101000012000 #{none_left}", "0 #{none_left}", "1103000012000 #{none_left}", "0 #{none_left}", "0 for none", "1 0 of 200000"], told.lines(chomp: true)
      assert_equal "\0" * 200_000, File.binread("#{folder}/file")
    end
  end

  test "what is Linux' own is refused there: the stand-ins would find it" do
    refused = {"probe/ext/puma_tuner_probe/ledger.c" => /poisoned "posix_fallocate"/}
    refused.each { |path, why| assert_match why, compile(File.join(PROJECT, path), []).first }
    found = %w[HAVE_SYS_EPOLL_H HAVE_SYS_TIMERFD_H]
    assert_match(/Darwin has no sys\/epoll.h/, compile(File.join(PROJECT, "ext/puma_tuner_load/loop.c"), found, "-D_GNU_SOURCE").first)
    assert_match(/poisoned "accept4"/, compile(File.join(PROJECT, "ext/puma_tuner_load/stall.c"), %w[HAVE_ACCEPT4], "-D_GNU_SOURCE").first)
  end
end
