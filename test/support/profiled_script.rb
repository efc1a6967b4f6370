# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "tmpdir"
require "puma_tuner"

# A script that does known work while a profiler looks at it, in a process of its own, as an adapter is used in a server.
module ProfiledScript
  LIB = File.expand_path("../../lib", __dir__)

  # The lines that tests name are found by these marks.
  WORK = <<~RUBY
    module Work
      Thing = Struct.new(:a)

      module_function

      # Until this thread has used so much CPU.
      def burn(cpu_s)
        limit = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + cpu_s
        spin until Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) > limit
      end

      def spin
        number = 0
        number += 1 while number < 2_000
        number
      end

      def long = burn(0.6)

      def short = burn(0.2)

      def rest(seconds) = sleep(seconds)

      def things(count)
        kept = Array.new(count)
        index = 0
        while index < count
          kept[index] = Thing.new(index) # made here
          index += 1
        end
        kept
      end

      def outer(count) = count.times { inner }

      def inner = 1
    end
  RUBY

  Ran = Data.define(:samples, :path, :out, :script)

  # @param name [String] of a profiler
  # @param body [String] Ruby, run between start and stop; WORK is defined
  # @param before [String] Ruby, run before start
  # @yieldparam ran [Ran]
  def profiled(name, body, mode: nil, interval_us: nil, before: "", ruby: RbConfig.ruby, library: nil, words: [])
    profiler = PumaTuner::Profile.profiler(name)
    paths = library || PumaTuner::Profile::Library.locate(profiler::GEM, profiler::VERSION_REQUIREMENT)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "profile#{profiler::EXTENSION}")
      script = File.join(folder, "script.rb")
      File.write(script, script_text(name, body, before, {mode:, interval_us:, path:}))
      out, errors, status = Open3.capture3(bare_environment, ruby, "-W1", *words, "-I", LIB, script, *paths, chdir: folder)
      raise "the script failed (#{status}):\n#{errors.lines.first(30).join}\n#{out}" unless status.success?
      raise "it warned:\n#{errors}" unless errors.empty?
      assert_equal [], Dir["#{folder}/*.partial*"]
      yield Ran.new(samples: PumaTuner::Profile::Readers.read(profiler, path, mode:), path:, out:, script: File.realpath(script))
    end
  end

  # @param text [String] Ruby
  # @return [String] the same, which then prints by the script's own clock how many nanoseconds it took
  def timed(text)
    now = "Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)"
    "began_ns = #{now}; #{text}; puts #{now} - began_ns"
  end

  # Skips a test whose profiler is not there.
  def need(name)
    profiler = PumaTuner::Profile.profiler(name)
    skip "#{name} is not installed; bin/setup --test installs it" unless PumaTuner::Profile::Library.installed?(profiler)
  end

  # @return [Float] of all, under a frame whose name ends so
  def share(samples, name) = amount(samples, name).fdiv(samples.stacks.sum(&:amount))

  def amount(samples, name) = stacks(samples, name).sum(&:amount)

  def stacks(samples, name) = samples.stacks.select { |stack| stack.frames.any? { |frame| frame.name.end_with?(name) } }

  # @return [Integer] the line of WORK's mark
  def line_of(script, mark) = File.readlines(script).index { |line| line.include?(mark) } + 1

  # @param content [String] of a file
  # @return [String] the message of the error that reading it raises
  def refusal(name, content, mode: nil)
    profiler = PumaTuner::Profile.profiler(name)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "odd")
      File.binwrite(path, content)
      error = assert_raises(PumaTuner::Profile::UnreadableProfile) { PumaTuner::Profile::Readers.read(profiler, path, mode:) }
      assert_match(/#{Regexp.escape(path)} can't be read as a profile: .*\. Record it again/m, error.message)
      error.message
    end
  end

  # @return [String] a file that our adapter wrote, with other values in it
  def with(whole, values) = JSON.generate(JSON.parse(whole).merge(values))

  # A file that is not whole, empty, of another kind, or a folder, is refused by every reader.
  def assert_refuses_what_is_none(name, whole)
    assert_match(/it is empty/, refusal(name, ""))
    [1, whole.bytesize / 3, whole.bytesize / 2, whole.bytesize - 1].each { |size| assert refusal(name, whole.byteslice(0, size)), "#{size} bytes" }
    ["# a text\n", "{}", "[]", "null", "\x04\x08[\x00", "\x04\x08{\x00", "\x04\x08o:\x0bObject\x00", "\x1f\x8b", "PERFILE2", "\x00" * 500].each do |other|
      refute_empty refusal(name, other.b)
    end
    error = assert_raises(PumaTuner::Profile::UnreadableProfile) { PumaTuner::Profile::Readers.read(PumaTuner::Profile.profiler(name), "/nowhere/at/all") }
    assert_match(/No such file/, error.message)
  end

  private

  def bare_environment = ENV.keys.grep(/\A(BUNDLE|GEM_|RUBY)/).to_h { |name| [name, nil] }

  def script_text(name, body, before, options)
    <<~RUBY
      # frozen_string_literal: true
      $LOAD_PATH.concat(ARGV)
      require "puma_tuner"
      #{WORK}
      #{before}
      profiler = PumaTuner::Probe::Profilers.find(#{name.dump}).new(**#{options.inspect})
      profiler.start
      #{body}
      profiler.stop
    RUBY
  end
end
