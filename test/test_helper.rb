# frozen_string_literal: true

require "minitest/autorun"
require "timeout"
require "puma_tuner"
require "support/allowed_skips"
require "support/last_lines"

# Else RubyGems would have Bundler set up this project's bundle in each Ruby that a test starts, also in one that is to have none.
ENV.delete("BUNDLER_SETUP")

# A warning is a defect.
module WarningsRaise
  def warn(message, category: nil, **)
    raise "warning: #{message}" if message.include?(File.expand_path("..", __dir__))
    super
  end
end
Warning.singleton_class.prepend(WarningsRaise)
$VERBOSE = true

# The base of all tests: names are sentences, each test asserts something, none runs forever, and none is skipped but those that
# AllowedSkips lists.
class TunerTest < Minitest::Test
  TIME_LIMIT_S = 120

  # @param sentence [String] what is promised
  def self.test(sentence, &block)
    name = "test_#{sentence.gsub(/\W+/, "_")}"
    raise ArgumentError, "#{name} stands twice in #{self}" if method_defined?(name)
    define_method(name, &block)
  end

  # @param seconds [Numeric] for tests that start servers
  def self.time_limit(seconds) = define_method(:time_limit_s) { seconds }

  def time_limit_s = TIME_LIMIT_S

  # Both are for who runs the file, and read off it (TestFile): what it needs where its folder does not say so, and that it wants the machine for itself.
  #
  # @param name [Symbol] one of TestFile::KINDS
  def self.kind(name) = name

  def self.timed! = true

  # For tests that compute for seconds, which take half the time then: a file's process has its tests alone.
  def self.computes! = (RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable))

  def run
    Timeout.timeout(time_limit_s) { super }
  end

  def before_teardown
    super
    return if skipped? || error? || failures.any?
    flunk "this test asserts nothing" if assertions.zero?
  end

  def after_teardown
    super
    failures.map! { |failure| failure.is_a?(Minitest::Skip) ? AllowedSkips.judge(self.class, failure) : failure }
  end

  # @param statement [PumaTuner::Statement, nil]
  # @return [String, nil] as people read it
  def in_words(statement) = PumaTuner::Report::Statements.words(statement)

  # @return [Float] seconds on the monotonic clock
  def monotonic_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # Computes in Ruby until this thread has had so much CPU time, which releases nothing.
  def spin(seconds)
    deadline = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
    nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < deadline
  end

  # @return [Array<Integer>] processes that this one has started
  def children = PumaTuner::Probe::Processes.children_of(Process.pid)

  # @param values [Hash{String => String, nil}] of variables, for as long as the block
  def with_environment(values)
    before = ENV.to_h.slice(*values.keys)
    values.each { |name, value| ENV[name] = value }
    yield
  ensure
    values.each_key { |name| ENV[name] = before[name] }
  end

  # @return [Float] of the standard normal distribution, after Box and Muller
  def normal(random) = Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)

  # For what chance, or other work of the machine, may spoil now and then: what is broken fails each time.
  #
  # @param count [Integer] of tries, of which one must hold
  def tries(count = 3)
    yield
  rescue Minitest::Assertion => failure
    raise if failure.is_a?(Minitest::Skip) || (count -= 1).zero?
    retry
  end

  # @return [Integer] of a port that refuses connections, and that no other process can take while this test runs
  def refusing_port
    socket = Socket.new(:INET, :STREAM)
    socket.bind(Addrinfo.tcp("127.0.0.1", 0))
    (@bound_only ||= []) << socket # an object that nobody holds is closed by the garbage collector
    socket.local_address.ip_port
  end

  # @param version [String] of it; any by default
  # @return [String] path of a Ruby other than this one, built by bin/setup; without one the test is skipped
  def other_ruby(version = "*")
    paths = Dir[File.join(PumaTuner::Host::CacheFolder.path, "ruby-#{version}/bin/ruby")] - [RbConfig.ruby]
    skip "no second Ruby here; bin/setup --ruby 3.3.8" if paths.empty? || version == RUBY_VERSION
    paths.first
  end

  # Asks again until the block is true; fails after the limit, which is one for machines that have much else to do. It asks the less often
  # the longer it has waited, as a look at a cluster takes milliseconds of CPU, and the tests beside this one want those.
  def wait_until(what, limit_s: 30)
    began_s = monotonic_s
    until (found = yield)
      waited_s = monotonic_s - began_s
      flunk "#{what} did not happen within #{limit_s} s" if waited_s > limit_s
      sleep((waited_s / 20).clamp(0.02, 0.1))
    end
    found
  end
end
