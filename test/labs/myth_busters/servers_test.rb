# frozen_string_literal: true

require_relative "fixture"
require "net/http"

# Real servers on a real database.
class MythBustersServersTest < TunerTest
  time_limit 200

  MythBusters = MythBustersFixture::Lab
  PATHS = %w[/io-only /cpu-only /realistic /level /talk /tarai /other].freeze

  def setup
    super
    reason = MythBustersFixture.why_not
    skip reason if reason
  end

  def with_field(sleep_s: 0.01)
    MythBusters::Database.run do |database|
      yield MythBusters::Field.new(database, pace: {ruby_ns: 3_600.0, go_ns: 180.0}, amounts: MythBusters::Amounts.new(units: 301, level_units: 901, talk_units: 101, sleep_s:))
    end
  end

  def answers(url)
    PATHS.to_h do |path|
      response = Net::HTTP.get_response(URI("#{url}#{path}"))
      [path, [response.code, response["content-type"], response["content-length"], response.body]]
    end
  end

  test "answer byte for byte the same in Ruby and in Go, in Falcon and by either database client" do
    with_field do |field|
      puma, go = MythBusters::Entrant.puma("1x2"), MythBusters::Entrant.go
      mysql2 = MythBusters::Entrant.puma("1x2", name: "mysql2", factors: {"gem.mysql2" => "0.5.7"}, environment: {"MYTH_CLIENT" => "mysql2"})
      field.serving([puma, go, mysql2, MythBusters::Entrant.falcon]) do |stands|
        first, *others = stands.map { |stand| answers(stand.server.url) }
        assert_equal ["200", "text/plain; charset=utf-8", "17", "slept 0, burnt 5\n"], first.fetch("/realistic")
        assert_equal "404", first.fetch("/other").first
        others.zip(stands.drop(1)).each do |answers, stand|
          # Falcon may send in chunks, without a length.
          wanted, answers = [first, answers].map { |all| all.transform_values { |code, type, _, body| [code, type, body] } } if stand.entrant.kind == "falcon"
          assert_equal wanted || first, answers, stand.entrant.name
        end
      end
    end
  end

  test "wait in the database beside each other, by threads and by fibers" do
    # Long beside what a busy machine takes to answer.
    with_field(sleep_s: 0.1) do |field|
      asked = MythBusters::Asked.closed("/io-only", 4)
      field.serving([MythBusters::Entrant.puma("1x4"), MythBusters::Entrant.puma("1x1"), MythBusters::Entrant.falcon, MythBusters::Entrant.go]) do |stands|
        four, one, fibers, go = stands.map { |stand| stand.turn(asked, 2).value("throughput") }
        [four, fibers, go].each { |per_s| assert_operator per_s, :>, 1.5 * one }
      end
    end
  end

  test "are refused when a response is not what it must be" do
    with_field do |field|
      wrong = MythBusters::Entrant.puma("1x1", environment: {"MYTH_UNITS" => "0"})
      field.serving([wrong]) do |(stand)|
        assert_raises(PumaTuner::InvalidMeasurement) { stand.turn(MythBusters::Asked.closed("/cpu-only", 1), 0.3) }
      end
    end
  end

  test "keep a session when they are told to" do
    with_field do |field|
      field.serving([MythBusters::Variants::REALISTIC.find { |entrant| entrant.name == "with a session" }]) do |(stand)|
        cookie = Net::HTTP.get_response(URI("#{stand.server.url}/io-only"))["set-cookie"]
        assert_match(/\Arack\.session=/, cookie)
      end
    end
  end

  test "are gone when the block has ended, and so is the database" do
    pids = nil
    with_field do |field|
      field.serving([MythBusters::Entrant.puma("2x1"), MythBusters::Entrant.go]) do |stands|
        database = PumaTuner::Probe::Processes.children_of(Process.pid).select { |pid| PumaTuner::Probe::Processes.command_line(pid).start_with?("demo database") }
        pids = [*stands.flat_map { |stand| stand.server.pids }, *database.flat_map { |pid| PumaTuner::Probe::Processes.tree_of(pid) }]
      end
    end
    assert_operator pids.size, :>=, 6, "a master, two workers, Go, the companion, MariaDB"
    wait_until("the end of all processes") { pids.none? { |pid| PumaTuner::Probe::Processes.alive?(pid) } }
  end

  PROGRAM = <<~RUBY
    require "puma_tuner"
    lab = PumaTuner::Lab.find("myth_busters").class
    lab::Database.run do |database|
      field = lab::Field.new(database, pace: {ruby_ns: 3_600.0, go_ns: 180.0})
      field.serving([lab::Entrant.puma("2x1"), lab::Entrant.go]) do |stands|
        puts PumaTuner::Probe::Processes.tree_of(Process.pid).join(" ")
        $stdout.flush
        stands.first.turn(lab::Asked.closed("/realistic", 2), 60)
      end
    end
  RUBY

  test "are gone after Ctrl-C, and after a kill the database is" do
    %i[INT KILL].each do |signal|
      reader, writer = IO.pipe
      library = File.expand_path("../../../lib", __dir__)
      pid = Process.spawn(RbConfig.ruby, "-I#{library}", "-e", PROGRAM, out: writer, err: File::NULL, pgroup: true)
      writer.close
      pids = reader.gets.split.map { |text| Integer(text) }
      # What a kill leaves behind are the servers, each a group of its own, for as long as a guard gives them to stop (Host::Guard).
      others = pids.drop(1).select { |other| signal == :INT || PumaTuner::Probe::Processes.command_line(other).match?(/demo database|mariadbd/) }
      sleep 0.3
      Process.kill(signal, pid)
      Process.wait(pid)
      wait_until("the end of all after #{signal}", limit_s: 30) { others.none? { |other| PumaTuner::Probe::Processes.alive?(other) } }
      assert_operator others.size, :>=, 2
    ensure
      reader&.close
      pids&.each { |other| kill(other) }
    end
  end

  def kill(pid)
    Process.kill(:KILL, pid) if PumaTuner::Probe::Processes.alive?(pid)
  rescue Errno::ESRCH
    nil
  end
end
