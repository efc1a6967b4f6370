# frozen_string_literal: true

require "test_helper"
require "support/builders"

class AdvicePatchTest < TunerTest
  include Builders

  PUMA_RB = "config/puma.rb"

  def advice(rule, lines)
    text = Statement.of(:told, text: rule)
    Advise::Advice.new(rule:, title: text, evidence: [], topology: nil, throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil,
      change: text, cost: text, undo: text, lines: lines.is_a?(String) ? {PUMA_RB => lines} : lines)
  end

  # @param files [Hash{String => String}] of the app
  def patch(files, *advice, command: "bundle exec puma", environment: {}, today: "1x5", min_threads_count: topology(today).threads_count)
    recorded = observation(topology: topology(today)).with(command:, min_threads_count:, fingerprint: environment.transform_keys { |name| [:env, name] })
    Advise::Patch.new(advice, observation: recorded) { |path| files[path] }
  end

  def after(patch) = patch.changes.to_h { |change| [change.path, change.after] }

  def kinds(patch) = patch.notes.map(&:kind)

  test "where nothing is left to do nothing is changed" do
    files = {PUMA_RB => "threads 5, 5\nworkers 2\n"}
    first = patch(files, advice("topology", "workers 2\nthreads 3, 3"))
    assert_equal({PUMA_RB => "threads 3, 3\nworkers 2\n"}, after(first))
    assert_empty patch(after(first), advice("topology", "workers 2\nthreads 3, 3")).changes
  end

  test "what is in force without a line is not written" do
    assert_empty patch({PUMA_RB => "port 3000\n"}, advice("topology", "workers 0\nthreads 5, 5")).changes
    assert_equal({PUMA_RB => "# puma_tuner advise: topology\nworkers 0\n"}, after(patch({}, advice("topology", "workers 0\nthreads 5, 5"), today: "2x5")))
  end

  test "a master above one worker, and threads that come when needed, are left where no other setting is advised" do
    recorded = ->(source, *lines) { after(patch({PUMA_RB => source}, advice("topology", lines.join("\n")), min_threads_count: 1)) }
    ["workers 1\nthreads 1, 5\n", "workers ENV.fetch(\"WEB_CONCURRENCY\", 1)\nthreads 1, 5\n", "workers 0\nthreads 5, 5\n"].each do |source|
      assert_empty recorded.call(source, "workers 0", "threads 5, 5")
    end
    assert_equal({PUMA_RB => "workers 1\nthreads 3, 3\n"}, recorded.call("workers 1\nthreads 1, 5\n", "workers 0", "threads 3, 3"))
    assert_equal({PUMA_RB => "workers 2\nthreads 1, 5\n"}, recorded.call("workers 1\nthreads 1, 5\n", "workers 2", "threads 5, 5"))
    assert_equal({PUMA_RB => "workers 0\nthreads 5, 5\n"}, recorded.call("workers 3\nthreads 2, 8\n", "workers 0", "threads 5, 5"))
  end

  test "as many workers as there are cores stay so where no other number is advised" do
    source = "workers :auto\nthreads 3, 3\n"
    recorded = ->(*lines) { after(patch({PUMA_RB => source}, advice("topology", lines.join("\n")), today: "2x3")) }
    assert_empty recorded.call("workers 2", "threads 3, 3")
    assert_equal({PUMA_RB => "workers :auto\nthreads 5, 5\n"}, recorded.call("workers 2", "threads 5, 5"))
    assert_equal({PUMA_RB => "workers 0\nthreads 3, 3\n"}, recorded.call("workers 0", "threads 3, 3"))
  end

  test "hooks that a single process does not run are told where a cluster becomes one" do
    source = "workers 2\nbefore_fork { disconnect }\n"
    told = ->(line, today: "2x3") { patch({PUMA_RB => source}, advice("topology", line), today:).notes.map { |note| [note.kind, note.facts["hooks"]] } }
    assert_equal [[:hooks_of_workers, ["before_fork"]]], told.call("workers 0")
    assert_empty told.call("workers 3") + told.call("workers 0", today: "1x3")
    assert_empty patch({PUMA_RB => "workers 2\n"}, advice("topology", "workers 0"), today: "2x3").notes
  end

  test "settings that code computes go into a file that is loaded last" do
    files = {PUMA_RB => "workers 2 if ENV[\"CI\"]\n"}
    found = patch(files, advice("topology", "workers 3"))
    assert_equal %w[config/puma_tuner.rb config/puma.rb], found.changes.map(&:path)
    assert_nil found.changes.first.before
    assert_match(/^workers 3$/, after(found)["config/puma_tuner.rb"])
    assert_match(/\Aworkers 2 if.*^instance_eval\(.*puma_tuner\.rb/m, after(found)[PUMA_RB])
    assert_equal [:computed], kinds(found)
    again = patch({**files, **after(found)}, advice("topology", "workers 3"))
    assert_empty [*again.changes, *again.notes]
    assert_equal ["config/puma_tuner.rb"], patch({**files, **after(found)}, advice("topology", "workers 4")).changes.map(&:path)
  end

  test "of two that set the same the first counts" do
    found = patch({PUMA_RB => "threads 5, 5\n"}, advice("topology", "threads 3, 3"), advice("short_releases", "threads 1, 1"))
    assert_equal({PUMA_RB => "threads 3, 3\n"}, after(found))
    assert_equal [[:settled, "short_releases"]], found.notes.map { |note| [note.kind, note.facts["rule"]] }
  end

  test "an option of the command goes before the file, so nothing is written that would not count" do
    ["puma -t5:5", "puma -t 5:5", "puma --threads=5:5"].each do |command|
      found = patch({PUMA_RB => "threads 5, 5\n"}, advice("topology", "workers 2\nthreads 3, 3"), command:)
      assert_equal "threads 5, 5\n\n# puma_tuner advise: topology\nworkers 2\n", after(found)[PUMA_RB]
      assert_equal [:by_command], kinds(found)
    end
    assert_empty kinds(patch({}, advice("topology", "threads 3, 3"), command: "puma --tag threads"))
  end

  test "a variable that was set when it was recorded has to be changed, too" do
    files = {PUMA_RB => "threads ENV.fetch(\"RAILS_MAX_THREADS\", 3)\n"}
    found = patch(files, advice("topology", "threads 2, 2"), environment: {"RAILS_MAX_THREADS" => "5"})
    assert_equal({"RAILS_MAX_THREADS" => "RAILS_MAX_THREADS=2"}, found.environment)
    assert_equal [:variable_first], kinds(found)
    assert_empty patch(files, advice("topology", "threads 2, 2")).environment
  end

  test "each variable on the way to the number has to be changed where it was set, or Puma finds more threads at least than at most" do
    files = {PUMA_RB => "max = ENV.fetch(\"RAILS_MAX_THREADS\") { 5 }\nmin = ENV.fetch(\"RAILS_MIN_THREADS\") { max }\nthreads min, max\n"}
    found = patch(files, advice("topology", "threads 3, 3"), environment: {"RAILS_MIN_THREADS" => "5"})
    assert_equal({"RAILS_MIN_THREADS" => "RAILS_MIN_THREADS=3"}, found.environment)
    assert_equal %w[RAILS_MIN_THREADS RAILS_MAX_THREADS].sort, found.notes.map { |note| note.facts["name"] }.sort
  end

  test "lines of the environment and of other places are told, and written nowhere" do
    found = patch({}, advice("malloc", "environment" => "MALLOC_ARENA_MAX=2"), advice("puma_version", "Gemfile" => "gem \"puma\", \"~> 8.0\""))
    assert_empty found.changes
    assert_equal({"MALLOC_ARENA_MAX" => "MALLOC_ARENA_MAX=2"}, found.environment)
    assert_equal({"Gemfile" => ["gem \"puma\", \"~> 8.0\""]}, found.by_hand)
  end

  test "a pool's size is written where it is a number that stands there once" do
    yaml = "default: &default\n  adapter: ünder\n  pool: 5 # places\nproduction:\n  <<: *default\n"
    found = patch({"config/database.yml" => yaml}, advice("starved_pool", "config/database.yml" => "pool: 8"))
    assert_equal({"config/database.yml" => yaml.sub("pool: 5", "pool: 8")}, after(found))
    ["pool: <%= ENV.fetch(\"RAILS_MAX_THREADS\") { 5 } %>\n", "a:\n  pool: 5\nb:\n  pool: 6\n", "<% if true %>\npool: 5\n<% end %>\n", "adapter: x\n"].each do |other|
      found = patch({"config/database.yml" => other}, advice("starved_pool", "config/database.yml" => "pool: 8"))
      assert_equal [[], [:pool_by_hand], {"config/database.yml" => ["pool: 8"]}], [found.changes, kinds(found), found.by_hand]
    end
  end

  # @param locks [Array<Probe::LockObservation>] that were watched
  # @return [Advise::Patch] of eight places, as Rails 8.1 has them
  def places(yaml, environment: {}, locks: nil)
    recorded = observation.with(fingerprint: environment.transform_keys { |name| [:env, name] }, locks:)
    Advise::Patch.new([advice("starved_pool", "config/database.yml" => "max_connections: 8")], observation: recorded) { yaml }
  end

  test "a pool's size is that of the environment that was recorded, and of no other" do
    both = "development:\n  max_connections: 5\nproduction:\n  max_connections: 6\n"
    assert_equal [both.sub("6", "8")], after(places(both)).values
    assert_equal [both.sub("5", "8")], after(places(both, environment: {"RAILS_ENV" => "development"})).values
    merged = "default: &default\n  max_connections: 5\ndevelopment:\n  <<: *default\n  max_connections: 6\nproduction:\n  primary: {<<: *default}\n  queue: {<<: *default}\n"
    assert_equal [merged.sub("5", "8")], after(places(merged)).values
    assert_equal [merged.sub("6", "8")], after(places(merged, environment: {"RAILS_ENV" => "development"})).values
    ["development:\n  max_connections: 5\n", "development:\n  max_connections: 5\nproduction:\n  url: postgres://db/shop\n"].each do |other|
      assert_equal [[], [:pool_by_hand]], places(other).then { |found| [found.changes, kinds(found)] }
    end
  end

  test "a size that is another than the recorded one is left: it is another database's, or an address goes before it" do
    pool = ->(size) { Probe::LockObservation.new(id: 1, kind: "pool", class_name: "ActiveRecord::ConnectionAdapters::ConnectionPool", place: "a.rb:1", size:, threads_count: 1, holds_count: 1, hold_ns: 1, waits_count: 0, wait_ns: 0) }
    queue = "production:\n  primary:\n    database: shop\n  queue:\n    max_connections: 3\n"
    assert_equal [[], {"config/database.yml" => ["max_connections: 8"]}], places(queue, locks: [pool[5]]).then { |found| [found.changes, found.by_hand] }
    assert_equal [queue.sub("3", "8")], after(places(queue, locks: [pool[3]])).values
  end

  test "where the file has the pool's old name it stays, as Rails 8.1 does not start with both" do
    assert_equal ["production:\n  pool: 8\n"], after(places("production:\n  pool: 5\n")).values
    computed = places("production:\n  pool: <%= ENV.fetch(\"RAILS_MAX_THREADS\") { 5 } %>\n")
    assert_equal [[], {"config/database.yml" => ["pool: 8"]}], [computed.changes, computed.by_hand]
  end

  test "a database.yml whose lines end as YAML has them is changed in the right one" do
    ["\u2028", "\u0085", "\r"].each do |ending|
      yaml = "# pasted#{ending}# from a page\nproduction:\n  adapter: x\n  max_connections: 5 # places\n"
      assert_equal [yaml.sub("5", "8")], after(places(yaml)).values, ending.dump
    end
  end

  test "a size that the rest of database.yml refers to, or that is no word of one line, is left" do
    {"&size 5\n  min_connections: *size" => "&size 5…", ">-\n    5" => ">-…", "!!int 5" => "!!int 5…"}.each do |size, told|
      found = places("production:\n  max_connections: #{size}\n")
      assert_equal [[], [[:pool_by_hand, [told]]]], [found.changes, found.notes.map { |note| [note.kind, note.facts["found"]] }], size
    end
  end

  test "anchors that merge each other again and again end" do
    doubled = (1..40).map { |level| "a#{level}: &a#{level}\n  one: {<<: *a#{level - 1}}\n  two: {<<: *a#{level - 1}}\n" }.join
    yaml = "a0: &a0\n  max_connections: 5\n#{doubled}production:\n  <<: *a40\n"
    assert_equal [yaml.sub("5", "8")], after(places(yaml)).values
    assert_empty places("production: &own\n  <<: *own\n  adapter: x\n").changes
  end

  test "of two sizes of a pool the first counts" do
    found = patch({"config/database.yml" => "production:\n  pool: 5\n"}, advice("topology", "config/database.yml" => "pool: 8"), advice("starved_pool", "config/database.yml" => "pool: 6"))
    assert_equal [["config/database.yml", "production:\n  pool: 8\n"]], found.changes.map { |change| [change.path, change.after] }
    assert_equal [[:settled, "starved_pool"]], found.notes.map { |note| [note.kind, note.facts["rule"]] }
  end

  test "a file that is no Ruby is left alone" do
    found = patch({PUMA_RB => "workers 2 do\n"}, advice("topology", "workers 3"))
    assert_equal [[], [:not_ruby]], [found.changes, kinds(found)]
    cut = patch({PUMA_RB => "workers 2\n\0\nthreads 5, 5\n"}, advice("topology", "workers 3"))
    assert_equal [[], [:not_ruby]], [cut.changes, kinds(cut)]
  end

  test "all that is said has words" do
    every = {not_ruby: {path: "x"}, settled: {line: "a", rule: "b", by: "c", instead: "d"}, by_command: {line: "a", option: "-t", config: "x"},
             no_config: {option: "-C -", config: "x", options: ["-w 2"], lines: ["a"]},
             computed: {lines: ["a"], config: "x", path: "y"}, hooks_of_workers: {hooks: ["a"], config: "x"}, pool_by_hand: {line: "a", path: "x", found: []}, variable_first: {name: "A", recorded: nil}}
    assert_equal every.keys, Report::PatchWords::WORDS.keys
    every.each { |kind, facts| refute_equal kind.to_s.tr("_", " "), Report::PatchWords.of(Statement.of(kind, **facts)) }
  end
end
