# frozen_string_literal: true

require "test_helper"
require "timeout"

class PumaFileTest < TunerTest
  include PumaTuner

  # As Rails 8.1 writes it.
  RAILS = <<~RUBY
    # Fäden
    threads_count = ENV.fetch("RAILS_MAX_THREADS", 3)
    threads threads_count, threads_count
    port ENV.fetch("PORT", 3000)
    plugin :tmp_restart
    pidfile ENV["PIDFILE"] if ENV["PIDFILE"]
  RUBY

  def with(source, lines) = Advise::PumaFile.new(source).with(lines, "advised")

  # @return [String] the only line of the text that is another afterwards
  def changed(source, lines)
    edited = with(source, lines)
    assert_empty edited.left
    pairs = source.lines.zip(edited.source.lines).reject { |before, after| before == after }
    assert_equal 1, pairs.size
    pairs.first.last.chomp
  end

  test "numbers of a call are changed where they stand" do
    assert_equal "  threads 2, 2 # both", changed("  threads 1, 5 # both\nworkers 2\n", "threads 2, 2")
    assert_equal "threads(4)", changed("threads(5)\n", "threads 4, 4")
    assert_equal "workers 3", changed("workers 2\nthreads 3, 3\n", "workers 3\nthreads 3, 3")
    assert_equal "preload_app! true", changed("preload_app! false\n", "preload_app!")
  end

  test "the default of a variable of the environment is changed, and named" do
    edited = with(RAILS, "threads 5, 5")
    assert_equal RAILS.sub("THREADS\", 3)", "THREADS\", 5)"), edited.source
    assert_equal({"RAILS_MAX_THREADS" => "5"}, edited.variables)
    assert_equal %(workers ENV.fetch("WEB_CONCURRENCY") { 3 }), changed(%(workers ENV.fetch("WEB_CONCURRENCY") { 2 }\n), "workers 3")
    assert_equal %(workers Integer(ENV["WEB_CONCURRENCY"] || "3")), changed(%(workers Integer(ENV["WEB_CONCURRENCY"] || "2")\n), "workers 3")
    assert_equal %(workers ENV.fetch("WEB_CONCURRENCY", "3").to_i), changed(%(workers ENV.fetch("WEB_CONCURRENCY", "2").to_i\n), "workers 3")
    older = <<~RUBY
      max = ENV.fetch("RAILS_MAX_THREADS") { 5 }
      min = ENV.fetch("RAILS_MIN_THREADS") { max }
      threads min, max
    RUBY
    assert_equal %(max = ENV.fetch("RAILS_MAX_THREADS") { 4 }), changed(older, "threads 4, 4")
    assert_equal({"RAILS_MIN_THREADS" => "4", "RAILS_MAX_THREADS" => "4"}, with(older, "threads 4, 4").variables)
    assert_equal({"A" => "4", "B" => "4", "C" => "4"}, with(%(threads ENV.fetch("A", ENV["B"] || ENV.fetch("C", 5))\n), "threads 4, 4").variables)
  end

  test "one variable is not given two numbers" do
    source = %(threads ENV.fetch("N", 2)\nworkers ENV.fetch("N", 2)\n)
    edited = with(source, "workers 3\nthreads 4, 4")
    assert_equal [source.sub("workers ENV.fetch(\"N\", 2)", "workers ENV.fetch(\"N\", 3)"), ["threads 4, 4"], {"N" => "3"}], [edited.source, edited.left, edited.variables]
    assert_empty with(source, "workers 3\nthreads 3, 3").left
  end

  test "a plugin's setting is one also where it is asked for whether Puma knows it" do
    line = "solid_queue_mode :fork if respond_to?(:solid_queue_mode)"
    assert_equal "solid_queue_mode :fork", changed("plugin :solid_queue\nsolid_queue_mode :async\n", line)
    assert_equal line, changed("plugin :solid_queue\n#{line.sub(":fork", ":async")}\n", line)
    hanging = "if ENV[\"JOBS\"]\n  plugin :solid_queue\n  solid_queue_mode :async\nend\n"
    assert_equal [hanging, [line]], with(hanging, line).then { |edited| [edited.source, edited.left] }
    assert_equal ["solid_queue_mode :async if ENV[\"JOBS\"]\n", [line]], with("solid_queue_mode :async if ENV[\"JOBS\"]\n", line).then { |edited| [edited.source, edited.left] }
    added = with("", line).source
    assert_equal ["# advised\n#{line}\n", added], [added, with(added, line).source]
  end

  test "what code computes is left as it is, and told" do
    ["workers Etc.nprocessors\n", "workers 2 if ENV[\"CI\"]\n", "workers 2\nworkers 3\n", "if x\n  workers 2\nend\n",
      "n = 2\nworkers n\nworker_timeout n\n", "n = 2\nn += 1\nworkers n\n"].each do |source|
      edited = with(source, "workers 4")
      assert_equal [source, ["workers 4"]], [edited.source, edited.left]
    end
    ["n = 5\npool = n\nENV[\"DB_POOL\"] = pool.to_s\nthreads n, n\n", "n = 5\nm = n\nport m\nthreads n, n\n"].each do |source|
      assert_equal [source, ["threads 4, 4"]], with(source, "threads 4, 4").then { |edited| [edited.source, edited.left] }
    end
    one_number = "n = 3\nthreads n, n\n"
    assert_equal [one_number, ["threads 1, 3"]], with(one_number, "threads 1, 3").then { |edited| [edited.source, edited.left] }
  end

  test "a call of a number thousands of times is left as it is, in time that grows with it" do
    source = "threads_count = 5\nthreads #{(["threads_count"] * 10_000).join(", ")}\n"
    edited = Timeout.timeout(20) { with(source, "threads 4, 4") }
    assert_equal [source, ["threads 4, 4"]], [edited.source, edited.left]
  end

  test "what is not there is added at the end, once" do
    hook = "cores = [1]\nbefore_worker_boot do |index|\n  p cores[index]\nend"
    edited = with(RAILS, "workers 2\n#{hook}")
    assert_equal "#{RAILS}\n# advised\nworkers 2\n#{hook}\n", edited.source
    assert_equal edited.source, with(edited.source, "workers 2\n#{hook}").source
    assert_equal "workers 1\n\n# advised\nthreads 2, 2\n__END__\nthreads 5, 5\n", with("workers 1\n__END__\nthreads 5, 5\n", "threads 2, 2").source
    assert_equal "workers 1\n\n# advised\nthreads 2, 2\n", with("workers 1", "threads 2, 2").source
    assert_equal "# advised\nthreads 2, 2\n", with("", "threads 2, 2").source
    windows = RAILS.gsub("\n", "\r\n")
    assert_equal edited.source.gsub("\n", "\r\n"), with(windows, "workers 2\n#{hook}").source
    assert_equal edited.source.gsub("\n", "\r\n"), with(with(windows, "workers 2\n#{hook}").source, "workers 2\n#{hook}").source
  end

  test "hooks that a single process does not run are found, wherever they stand" do
    source = "before_fork { A }\nif x\n  on_worker_boot { B }\nend\nbefore_fork { C }\nbefore_thread_start { D }\napp.before_refork\n# after_refork\n"
    assert_equal %w[before_fork on_worker_boot], Advise::PumaFile.new(source).hooks_of_workers
  end

  test "names in comments, texts and of other receivers are no settings" do
    source = "# workers 2\nputs \"threads 5, 5\"\napp.workers 7\n"
    assert_equal "#{source}\n# advised\nworkers 3\n", with(source, "workers 3").source
  end

  test "a file that is no Ruby is told from one that is" do
    assert_predicate Advise::PumaFile.new(RAILS), :ruby?
    refute_predicate Advise::PumaFile.new("workers 2 do"), :ruby?
    refute_predicate Advise::PumaFile.new("workers 2\n\0threads 5, 5\n"), :ruby?, "Ruby stops reading there"
  end
end
