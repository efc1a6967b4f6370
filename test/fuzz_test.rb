# frozen_string_literal: true

require "test_helper"
require "json"
require "support/fuzz/readers"
require_relative "../benchmark/fuzz"

# The quick form of `rake fuzz`, and that it finds what it is for.
class FuzzTest < TunerTest
  # So many for each reader, in some seconds; `rake fuzz` gives them thousands.
  COUNT = 25

  READERS = Fuzz::Readers.all.freeze

  time_limit 300

  READERS.each do |reader|
    test "#{reader.name} reads what is right, and refuses with a reason what is not" do
      Dir.mktmpdir do |folder|
        (reader.seeds - [JSON.generate(Fuzz::Readers::REFUSED)]).each do |seed|
          File.binwrite(path = File.join(folder, "input"), seed)
          assert_silent { reader.read.call(path) }
        end
      end
      outcome = Fuzz::Trial.new(reader, seed: 1).run(COUNT)
      assert_empty outcome.findings.map(&:to_s)
      assert_equal COUNT, outcome.read_count + outcome.refused_count
    end
  end

  # @return [Fuzz::Outcome]
  def trial(limit_s: 5, memory_bytes: Fuzz::Trial::MEMORY_BYTES, &read)
    reader = Fuzz::Reader.new(name: "planted", seeds: ["0123456789" * 3], read: ->(path) { read.call(File.binread(path)) })
    Fuzz::Trial.new(reader, seed: 1, limit_s:, memory_bytes:).run(40)
  end

  def kinds(outcome) = outcome.findings.map(&:kind)

  test "an exception is found, and those in one place are one" do
    found = trial { |bytes| bytes.start_with?("0") ? Integer("x") : nil }.findings
    assert_equal [:exception], found.map(&:kind)
    assert_operator found.first.count, :>, 5
    assert_match(/ArgumentError in .*invalid value for Integer.*INPUT=planted:\d+/, found.first.to_s)
  end

  test "a refusal has to have a reason, and what is our bug is none" do
    assert_equal [:no_reason], kinds(trial { raise PumaTuner::UsageError, "no" })
    outcome = trial { raise PumaTuner::UsageError, "there is no such thing" }
    assert_equal [40, []], [outcome.refused_count, outcome.findings]
    assert_equal [:exception], kinds(trial { raise PumaTuner::InvariantError, "this can not be so" })
  end

  test "an exception that was caught is told apart from a check: counted, with its place, and no finding" do
    fitting = ->(&shown) { trial { PumaTuner::Document.fitting("it", &shown) } }
    checked = fitting.call { raise KeyError, "there is no such part" }
    assert_equal [40, [], []], [checked.refused_count, checked.caught, checked.findings]
    {NoMethodError => -> { nil.size }, ZeroDivisionError => -> { 1 / 0 }, FloatDomainError => -> { Float::NAN.round },
     ArgumentError => -> { [1, nil].max }}.each do |error, shown|
      outcome = fitting.call(&shown)
      assert_equal [40, 40, []], [outcome.refused_count, outcome.caught_count, outcome.findings], error
      assert_equal 1, outcome.caught.size
      assert_match(/planted: caught, 40x: #{error} in puma_tuner\/document\.rb:\d+: \w.*INPUT=planted:0/, outcome.caught.first.to_s)
    end
  end

  test "a reason of our own is no exception's, also where one was behind it" do
    outcome = trial do
      Integer("x")
    rescue ArgumentError
      raise PumaTuner::UsageError, "that is no number"
    end
    assert_equal [40, []], [outcome.refused_count, outcome.caught]
  end

  test "the texts of packed logs are changed, too" do
    reader = READERS.find { |one| one.name == "access log, packed" }
    assert_operator Fuzz::Trial.new(reader, seed: 2).run(60).read_count, :>, 6
  end

  test "the end of the process is found, and the inputs after it are read, too" do
    outcome = trial { |bytes| Process.kill(:KILL, Process.pid) && sleep if bytes.bytesize < 20 }
    assert_equal [:crash], kinds(outcome)
    assert_match(/SIGKILL/, outcome.findings.first.detail)
    assert_equal 40, outcome.read_count + outcome.findings.first.count
  end

  test "a reader without end is ended, and so is what it has started" do
    pid_file = File.join(Dir.mktmpdir, "pid")
    outcome = trial(limit_s: 0.5) do |bytes|
      next unless bytes.bytesize == 30 && !File.exist?(pid_file)
      File.write(pid_file, spawn("sleep", "600"))
      loop { Thread.pass }
    end
    assert_equal [:hang], kinds(outcome)
    assert_match(/longer than 0\.5 s/, outcome.findings.first.to_s)
    status = File.read("/proc/#{File.read(pid_file)}/status")[/^State:\s+(\w)/, 1]
    assert_equal "Z", status, "it has ended, and nobody asks for it"
  rescue Errno::ENOENT
    assert_path_exists pid_file
  ensure
    FileUtils.rm_rf(File.dirname(pid_file))
  end

  test "memory without bounds is found" do
    assert_equal [:memory], kinds(trial(memory_bytes: 128 << 20) { "x" * (512 << 20) })
  end

  # As a seed it would be cut, see Mutator::BYTES_MAX. All of it is in the child: what is left of it here would be room for the next one's.
  test "a small file that becomes a large one when it is unpacked is refused with a reason, in bounded memory" do
    rperf = READERS.find { |one| one.name == "profile of rperf" }
    reader = Fuzz::Reader.new(name: "bomb", seeds: ["x"], read: lambda { |path|
      File.binwrite(path, bomb)
      error = assert_raises(PumaTuner::Profile::UnreadableProfile) { rperf.read.call(path) }
      assert_match(/: unpacked it has more than 512 MiB; profile for less time, or sample less often\. Record/, error.message)
    })
    outcome = Fuzz::Trial.new(reader, seed: 1, memory_bytes: 640 << 20).run(1)
    assert_equal [1, []], [outcome.read_count, outcome.findings.map(&:to_s)]
  end

  # Of more than a profile may have: a mebibyte of blanks, again and again. It is refused before its checksum is missed.
  def bomb
    stream = Zlib::Deflate.new(Zlib::BEST_COMPRESSION, Zlib::MAX_WBITS + 16)
    first, again = Array.new(2) { stream.deflate(" " * (1 << 20), Zlib::FULL_FLUSH) }
    stream.reset # closing one in the middle is warned of
    stream.close
    first + again * (PumaTuner::Profile::Readers::Reader::MOST_BYTES >> 20)
  end

  test "a fault of memory in C is found by the sanitizer, with its name" do
    native = Fuzz::NativeReader.new
    assert_nil native.call("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    assert_raises(PumaTuner::InvalidMeasurement) { native.call("SSH-2.0\r\n\r\n") }
    Process.kill(:SEGV, native.pid)
    assert_match(/SEGV|signal 11/, assert_raises(Fuzz::Crashed) { 3.times { native.call("x") } }.message)
    assert_nil native.call("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), "and the next one has a new process"
  end

  test "inputs are the same for the same seed, differ from what they are made of, and stay JSON most of the time" do
    reader = READERS.first
    one, again, other = [1, 1, 2].map { |seed| Fuzz::Trial.new(reader, seed:) }
    inputs = (0...50).map { |index| one.input(index) }
    assert_equal inputs, (0...50).to_a.reverse.map { |index| again.input(index) }.reverse
    refute_equal inputs, (0...50).map { |index| other.input(index) }
    assert_operator (inputs - reader.seeds.map(&:b)).uniq.size, :>, 40
    json = inputs.count do |input|
      JSON.parse(input.dup.force_encoding("UTF-8"))
    rescue JSON::ParserError
      false
    end
    assert_operator json, :>, 25
  end

  test "what rake was given as no number is told with its variable, and a number counts unless an option has another" do
    parse = ->(variables, *words) { with_environment({"SEED" => nil, "COUNT" => nil, **variables}) { FuzzRun::Options.parse(words) } }
    {"SEED" => "x", "COUNT" => "many"}.each do |name, text|
      assert_match(/#{name}=#{text}, where a whole number is needed/, assert_raises(OptionParser::InvalidArgument) { parse.call({name => text}) }.message)
    end
    assert_raises(OptionParser::InvalidArgument) { parse.call({"COUNT" => "0"}) }
    assert_equal [7, 40], parse.call({"SEED" => "7", "COUNT" => "30"}, "--count", "40").then { |options| [options.seed, options.count] }
  end

  test "every reader has its share of the inputs, and together they are as many as was asked for, or a few more" do
    shares = Fuzz::Readers.shares(10_000, READERS)
    assert_equal READERS.size, shares.size
    assert_operator shares.values.min, :>=, 10_000 / READERS.size / 2
    assert_includes 10_000..10_000 + READERS.size, shares.values.sum
  end

  def outcome(*findings, caught: [])
    Fuzz::Outcome.new(reader: "planted", inputs_count: 1_234_567, read_count: 4, refused_count: 5, findings:, caught:, seconds: 90.0)
  end

  def page(*, **)
    FuzzRun::Page.new(machine: PumaTuner::Probe::MachineFacts.read, results: [outcome(*, **)], options: FuzzRun::Options.parse([]))
  end

  test "the page tells what was found, and the run fails then" do
    assert_equal [:met], page.outcomes
    assert_includes page.to_s, "| 1,234,567 |"
    assert_match(/No crash, no hang/, page.to_s)
    found = page(Fuzz::Finding.new(reader: "planted", kind: :hang, index: 7, detail: "longer than 10 s", count: 2))
    assert_equal [:missed], found.outcomes
    assert_match(/Found: planted: hang, 2x: longer than 10 s \(INPUT=planted:7/, found.to_s)
  end

  test "exceptions that were caught have a column and the number of their places, and the run is fine" do
    caught = [3, 1].map do |count|
      Fuzz::Finding.new(reader: "planted", kind: :caught, index: 7, detail: "TypeError in it.rb:#{count}: x", count:)
    end
    told = page(caught:)
    assert_equal [:met], told.outcomes
    assert_match(/No crash.*\n\n4 of the refusals were by an exception that was caught, in 2 places\. .*names it and quotes the exception/, told.to_s)
    assert_match(/refused with a reason \| of them by an exception that was caught \| findings/, told.to_s)
    assert_match(/planted \| 1,234,567 \| +4 \| +5 \| +4 \| +0 \|/, told.to_s)
  end

  test "the published page has a line for each reader that there is" do
    section = File.read(File.expand_path("../docs/measured/reliability.md", __dir__)).split(FuzzRun::Page::HEADING).last[/.*?(?=^## |\z)/m]
    assert_equal READERS.map(&:name), section.scan(/^\| (\S.*?) +\| +[\d,]+ \|/).flatten
  end

  test "the section is written behind the soak's page, and each leaves the other's" do
    soak, section = "# Reliability\n\nsoak 1\n", page.to_s # read once: its figures of the machine change
    both = Bench::Page.joined(soak, section)
    assert both.start_with?("#{soak}\n#{FuzzRun::Page::HEADING}\n")
    assert_equal both, Bench::Page.joined(both, section)
    again = Bench::Page.joined(both, soak.sub("1", "2"))
    assert_equal [both.sub("soak 1", "soak 2"), section], [again, again[/^## Fuzz.*/m]]
  end

  test "fewer than a million inputs are not worth a section" do
    assert_raises(OptionParser::ParseError) { FuzzRun::Options.parse(%w[--write --count 5]) }
    assert FuzzRun::Options.parse(%w[--write]).whole?
    assert_equal 1_000_000, FuzzRun::Options.parse([]).count
    assert_raises(PumaTuner::UsageError) { FuzzRun.run(FuzzRun::Options.parse(%w[--reader nobody])) }
  end

  test "an input is shown by its reader and its number, and whoever asks for another is told what to write" do
    show = ->(input) { FuzzRun.show(FuzzRun::Options.parse(["--input", input])) }
    mistake = ->(input) { assert_raises(PumaTuner::UsageError, input) { show.call(input) }.message }
    assert_output(/\A".*"\n(read|refused)\n/) { show.call("path of a request:7") }
    %w[ledger ledger: ledger:x :7].each { |input| assert_match(/\A#{input}: write READER:NUMBER, .*ledger:7\z/, mistake.call(input)) }
    assert_match(/\Athere is no reader "nobody"; choose from .*, "ledger", /, mistake.call("nobody:7"))
  end
end
