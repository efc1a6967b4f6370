# frozen_string_literal: true

require "test_helper"
require "support/served_app"

PumaTuner::Lab.find("yjit_memory")

# What memory consists of, of processes whose truth is known.
class YjitMemoryTest < TunerTest
  time_limit 100

  Anatomy = PumaTuner::Labs::Anatomy
  YjitMemory = PumaTuner::Labs::YjitMemory
  MIB = PumaTuner::Units::MIB

  # A process with a heap of known size, and a child that it forked.
  PROGRAM = <<~'RUBY'
    objects = Array.new(1_000_000) { Object.new }
    GC.start
    def one(number) = number + 1
    1_000.times { one(1) }
    writes, heap, code = ARGV.first == "writes", GC.stat(:heap_allocated_pages) * 65_536, RubyVM::YJIT.enabled? ? RubyVM::YJIT.runtime_stats[:code_region_size] : 0
    child = fork do
      objects.each { |object| object.instance_variable_set(:@written, 1) } if writes
      $stdout.syswrite("ready\n")
      sleep
    end
    $stdout.syswrite("#{heap} #{code} #{child}\n")
    sleep
  RUBY

  # @yieldparam pids [Array<Integer>] the process and its child
  # @yieldparam heap [Integer] bytes, as Ruby tells; @yieldparam code [Integer] as YJIT does
  def with_process(*options, ruby: RbConfig.ruby, writes: false)
    program = IO.popen([{"RUBYOPT" => nil}, ruby, "--disable-gems", *options, "-e", PROGRAM, writes ? "writes" : "reads"])
    lines = [program.gets, program.gets]
    heap, code, child = lines.find { |line| line != "ready\n" }.split.map(&:to_i)
    yield [program.pid, child], heap, code
  ensure
    [child, program&.pid].compact.each { |pid| Process.kill(:KILL, pid) }
    program&.close
  end

  test "Ruby's heap and YJIT's code are found page by page, as large as Ruby and YJIT tell" do
    assert_found(RbConfig.ruby)
    with_process("--disable=yjit") { |(pid, _), _, _| assert_equal 0, Anatomy.of_process(pid).bytes(:code) }
  end

  test "they are found in Ruby 3.3, too, which describes its pages otherwise" do
    assert_found(other_ruby("3.3.8"))
  end

  def assert_found(ruby)
    with_process("--yjit", "--yjit-call-threshold=5", ruby:) do |(pid, child), heap, code|
      memory = Anatomy.of_process(pid)
      assert_in_delta heap, memory.bytes(:heap), heap * 0.03
      assert_in_delta code, memory.bytes(:code), 128 * 1024
      assert_operator code, :>, 0
      assert_in_delta PumaTuner::Probe::Processes.memory(pid)[:rss_bytes], memory.total_bytes, 2 * MIB
      assert_operator memory.shared.fetch(:heap), :>, heap * 0.9, "its child has the same pages"
      assert_equal 0, Anatomy.of_process(child).own.fetch(:code)
    end
  end

  test "what a forked process writes to becomes its own, and what both still share counts once" do
    own, total = [false, true].map do |writes|
      with_process("--disable=yjit", writes:) do |pids, heap, _|
        # The child tells that it is ready before the parent has gone on, or after.
        memory = Anatomy.of_server(pids)
        [memory.own.fetch(:heap).fdiv(heap), memory.total_bytes]
      end
    end.transpose
    assert_operator own.first, :<, 0.1
    assert_operator own.last, :>, 0.8
    assert_operator total.last - total.first, :>, 30 * MIB
  end

  test "of a process that is gone, or that may not be looked at, nothing is known" do
    assert_nil Anatomy.of_process(2**30)
    assert_nil Anatomy.of_server([Process.pid, 2**30])
    assert_nil Anatomy.of_server([])
  end

  test "mappings are told apart" do
    mapping = ->(line) { Anatomy::Mapping.parse(line) }
    guard = mapping.call("7f0000000000-7f0000001000 ---p 00000000 00:00 0 ")
    assert_equal :stack, mapping.call("7f0000001000-7f00000a2000 rw-p 00000000 00:00 0 ").kind(guard)
    assert_equal :malloc, mapping.call("7f0000002000-7f00000a2000 rw-p 00000000 00:00 0 ").kind(guard)
    assert_equal :code, mapping.call("55ceb89c2000-55ceb89c5000 r-xp 00000000 00:00 0 ").kind(nil)
    assert_equal :file, mapping.call("55ceb89c2000-55ceb89c5000 r-xp 00000000 fe:00 123   /usr/bin/ruby").kind(nil)
    assert_equal :malloc, mapping.call("55ced5548000-55ced5a03000 rw-p 00000000 00:00 0     [heap]").kind(nil)
  end

  def look(code, heap, malloc, metadata) = YjitMemory::Look.new(requests_count: 400, code_bytes: code && code * MIB, metadata_bytes: metadata && metadata * MIB,
    memory: Anatomy::Memory.new(own: {code: code.to_i * MIB, heap: heap * MIB, malloc: malloc * MIB, stack: 0, file: 0}, shared: Anatomy::KINDS.to_h { |kind| [kind, 0] }))

  test "the report says what was added, largest first, and what YJIT tells of itself beside it" do
    lab = YjitMemory.new
    looks = {"YJIT off" => [look(0, 30, 100, 0), look(0, 32, 102, 0)], "YJIT on" => [look(16, 50, 150, 40), look(16, 52, 152, 40)]}
    table = lab.send(:table, PumaTuner::Labs::Yjit::SHOP, "3.4.5", looks, YjitMemory::Sizes.full)
    rows = table.rows.to_h { |title, *cells| [title, cells] }
    assert_equal ["101.0 (100.0–102.0)", "151.0 (150.0–152.0)", "50.0"], rows.fetch("malloc: YJIT's metadata, and all else")
    assert_equal "10.0", rows.fetch("malloc without that metadata").last
    assert_equal "the shop's API, Ruby 3.4.5: YJIT adds 86 MiB, 50 MiB of malloc: YJIT's metadata, and all else, 20 MiB of Ruby's heap, 16 MiB of machine code (YJIT), 0 MiB of stacks, 0 MiB of mapped files; " \
      "YJIT tells of 56 MiB itself.", lab.send(:conclusion, PumaTuner::Labs::Yjit::SHOP, "3.4.5", looks)
    silent = {"YJIT off" => [look(0, 30, 100, 0)], "YJIT on" => [look(nil, 30, 100, nil)]}
    assert_equal "-", lab.send(:table, PumaTuner::Labs::Yjit::SHOP, "3.3.8", silent, YjitMemory::Sizes.full).rows.to_h { |title, *cells| [title, cells] }.fetch("malloc without that metadata").last
  end

  test "the long form looks at both services with both Rubies, and the short one at today's" do
    assert_equal [%w[oauth 3.4.5], %w[oauth 3.3.8], %w[shop_api 3.4.5], %w[shop_api 3.3.8]], YjitMemory::Sizes.full.pairs.map { |service, ruby| [service.name, ruby] }
    assert_equal [["oauth", RUBY_VERSION]], YjitMemory::Sizes.quick.pairs.map { |service, ruby| [service.name, ruby] }
  end
end
