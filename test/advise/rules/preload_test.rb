# frozen_string_literal: true

require "test_helper"
require "support/advising"

class PreloadRuleTest < TunerTest
  include Advising

  def asked(workers_count = 2, puma_version: "8.0.2", **settings)
    ask(Advise::Rules::Preload, observation: in_force(cluster(workers_count), "puma preload_app": "false", **settings), today: "#{workers_count}x3", of: workload.with(puma_version:))
  end

  test "workers that load the app each are told, with the memory that they have of their own" do
    advice = asked.first
    assert_match(/each of 2 workers has 50 MiB of its own/, advice.evidence.first)
    assert_match(/\Apreload_app!\nbefore_worker_boot/, advice.lines["config/puma.rb"])
    assert_match(/\non_worker_boot/, asked(puma_version: "6.6.1").first.lines["config/puma.rb"])
  end

  test "what Active Record does by itself is said where it is loaded" do
    assert_match(/Active Record's connections/, asked("gem activerecord": "8.1.0").first.cost)
    refute_match(/Active Record/, asked.first.cost)
  end

  test "nothing is said of one process, of an app that is preloaded, or of a server that forks from a worker" do
    assert_empty asked(1)
    assert_empty ask(Advise::Rules::Preload, observation: in_force(observation, "puma preload_app": "false"))
    assert_empty asked("puma preload_app": "true")
    assert_empty asked("puma fork_worker": "1000")
  end
end
