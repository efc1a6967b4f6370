# frozen_string_literal: true

require "test_helper"
require "support/advising"

class MallocRuleTest < TunerTest
  include Advising

  # Two workers and their master take 150 MiB.
  def asked(limit_mib, today: "2x3", allocator: "the C library's", **settings)
    ask(Advise::Rules::Malloc, observation: in_force(cluster(2), allocator:, **settings), today:, constraints: {max_memory_bytes: limit_mib && limit_mib << 20})
  end

  test "where memory is what limits the workers, fewer arenas are worth a try" do
    advice = asked(220).first
    assert_match(/take 150 MiB of 220 MiB/, advice.evidence.first)
    assert_equal({"environment" => "MALLOC_ARENA_MAX=2"}, advice.lines)
  end

  test "a C library without arenas is told of none" do
    refute_empty asked(220, ruby: "ruby 3.4.5 x86_64-linux")
    ["x86_64-linux-musl", "arm64-darwin24"].each { |platform| assert_empty asked(220, ruby: "ruby 3.4.5 #{platform}") }
  end

  test "where there is room, or no limit, or another allocator, or one thread, or it is set, nothing is said" do
    assert_empty asked(226)
    assert_empty asked(nil)
    assert_empty asked(220, allocator: "jemalloc (libjemalloc.so.2)")
    assert_empty asked(220, today: "2x1")
    assert_empty asked(220, "env MALLOC_ARENA_MAX": "2")
  end
end
