# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "open3"
require "tmpdir"
require_relative "../../../benchmark/validate/beside"

# How a server gets a database of its own: with one that only notes what it is told.
class ServeTest < TunerTest
  time_limit 60

  SERVE = File.expand_path("../../../labs/real_apps/redmine_pg/serve", __dir__)

  DATABASE = <<~BASH
    #!/usr/bin/env bash
    trap '' TERM INT
    cd "$(dirname "$0")"
    echo $$ >pid
    echo 4321
    cat >/dev/null
    sleep 0.1
    echo ended >ended
  BASH

  # @yieldparam folder [String] of an application
  def application
    Dir.mktmpdir do |folder|
      FileUtils.mkdir(File.join(folder, "database"))
      FileUtils.cp(SERVE, folder)
      File.write(File.join(folder, "database/start"), DATABASE, perm: 0o755)
      yield folder
    end
  end

  def wait_for
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
    sleep 0.02 until (found = yield) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    found
  end

  def ended?(folder) = File.size?(File.join(folder, "database/ended"))

  test "the command knows the port, its status is passed on, and the database has ended by then" do
    application do |folder|
      out, status = Open3.capture2("#{folder}/serve", "bash", "-c", "echo port $REDMINE_PG_PORT; exit 7")
      assert_equal ["port 4321\n", 7], [out, status.exitstatus]
      assert_equal [1, 0], %w[false true].map { |command| system("#{folder}/serve", command) && 0 || $?.exitstatus }
      assert ended?(folder)
    end
  end

  test "who is told to end tells the command" do
    application do |folder|
      pid = Process.spawn("#{folder}/serve", "bash", "-c", "trap 'echo asked >#{folder}/asked; exit 3' TERM; echo >#{folder}/up; while :; do sleep 0.05; done")
      wait_for { File.exist?("#{folder}/up") }
      Process.kill(:TERM, pid)
      assert_equal 3, Process.wait2(pid).last.exitstatus
      assert_path_exists "#{folder}/asked"
      assert ended?(folder)
    end
  end

  # As a server is ended that does not listen: the whole group at once.
  test "killed with all its group, it leaves no database behind" do
    application do |folder|
      pid = Process.spawn("#{folder}/serve", "sleep", "60", pgroup: true)
      assert(wait_for { File.size?("#{folder}/database/pid") })
      sleep 0.1
      Process.kill(:KILL, -pid)
      Process.wait(pid)
      assert(wait_for { ended?(folder) })
    end
  end

  test "a database that does not start ends it, before anything is served" do
    application do |folder|
      File.write("#{folder}/database/start", "#!/usr/bin/env bash\nexit 1\n")
      _, err, status = Open3.capture3("#{folder}/serve", "touch", "#{folder}/served")
      assert_equal 1, status.exitstatus
      assert_match(/the database did not start/, err)
      refute_path_exists "#{folder}/served"
    end
  end

  test "its CPU is found by the process that is named in the server's folder, with all that descend from it" do
    application do |folder|
      File.write("#{folder}/database/start", DATABASE.sub("cat >", "bash -c 'for ((i = 0; i < 200000; i++)); do :; done; echo >worked; while [ -e pid ] && ! [ -e ended ]; do sleep 0.05; done' & cat >"))
      server = Struct.new(:directory).new(folder)
      assert_equal 0, Validation::Beside.cpu_ns(server)
      pid = Process.spawn({"PUMA_TUNER_DIRECTORY" => folder}, "#{folder}/serve", "sleep", "60", pgroup: true)
      wait_for { File.exist?("#{folder}/database/worked") }
      assert_operator Validation::Beside.cpu_ns(server), :>, 10_000_000
    ensure
      Process.kill(:KILL, -pid) && Process.wait(pid) if pid
      wait_for { ended?(folder) }
    end
  end
end
