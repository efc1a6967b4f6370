# frozen_string_literal: true

require "test_helper"
require "support/architecture"

# Who may know whom.
class ArchitectureTest < TunerTest
  ROOT = File.expand_path("..", __dir__)
  PROBE = File.join(ROOT, "probe/lib")

  # Each folder, and the folders whose constants it may name: whoever is not listed is a stranger. It is read downwards,
  # as none may name one that stands below it.
  TABLE = {
    # What runs in a server
    "ground" => [],
    "probe" => %w[ground],
    "export" => %w[ground probe],
    "ways in" => %w[ground probe],
    # What the stages stand on
    "stats" => %w[ground],
    "host" => %w[ground probe],
    "load" => %w[ground probe stats host],
    "block" => %w[ground probe host],
    # The stages, in the order of the flow
    "measure" => %w[ground probe host load],
    "model" => %w[ground probe],
    "calibrate" => %w[ground probe stats host load measure model],
    "predict" => %w[ground probe stats model],
    "advise" => %w[ground probe stats model predict],
    "prove" => %w[ground probe stats host load block measure],
    # Beside them
    "profile" => %w[ground probe stats host load block],
    "tradeoff" => %w[ground probe stats prove],
    "lanes" => %w[ground probe],
    "fleet" => %w[ground probe export stats],
    "access_log" => %w[ground probe load],
    "compare" => %w[ground probe stats fleet access_log],
    "app_routes" => %w[ground host load],
    # What uses them
    "tuner" => %w[ground probe load measure model calibrate predict advise prove],
    "trial" => %w[ground probe stats model predict fleet tuner],
    "report" => %w[ground probe stats model predict advise prove lanes tuner],
    "top" => %w[ground probe export stats host profile lanes model predict tuner report],
    # Which know blocks, and no stage that these tell of; and no section knows who prints it
    "report/writers" => %w[ground report],
    "cli" => %w[ground probe host load block measure model calibrate predict advise prove profile tradeoff lanes fleet trial access_log
      compare app_routes tuner report top],
    "labs/harness" => %w[ground probe stats host prove report report/writers cli]
  }.freeze

  # Files that stand in no folder of their own.
  GROUND = %w[atomic_file clock document error goal http_exchange percentile rule_of_thumb state_file statement thread_line topology units unknown version].freeze
  WAYS_IN = %w[autorun jobs profiler_middleware railtie].freeze
  TUNER = %w[advice_proof server_forecast tuner tuning].freeze

  # These name what is loaded when somebody asks for it, so they know all.
  MAPS = %w[lib/puma_tuner.rb probe/lib/puma_tuner/probe.rb probe/lib/puma_tuner-probe.rb
    lib/puma_tuner/cli/commands.rb lib/puma_tuner/report.rb].freeze

  # @return [Hash{String => String}] folder by path of each Ruby file
  def files
    paths = Dir["#{ROOT}/{lib,probe/lib}/**/*.rb", "#{ROOT}/labs/harness{.rb,/**/*.rb}"]
    (paths.map { |path| path.delete_prefix("#{ROOT}/") } - MAPS).to_h { |path| [path, folder_of(path)] }
  end

  def folder_of(path)
    return "labs/harness" if path.start_with?("labs/")
    return "ways in" if path.include?("/puma/plugin/")
    within = path[%r{lib/puma_tuner/(.*)\.rb}, 1]
    first = within[/\w+/]
    {"ground" => GROUND, "ways in" => WAYS_IN, "tuner" => TUNER}.find { |_, names| names.include?(first) }&.first ||
      TABLE.keys.find { |folder| folder.include?("/") && within.start_with?("#{folder}/") } || first
  end

  def uses = @uses ||= Dir.chdir(ROOT) { Architecture.new(files).uses }

  test "every folder stands in the table" do
    assert_equal TABLE.keys.sort, files.values.uniq.sort
  end

  test "no folder names another that it may not know" do
    strangers = uses.to_h { |folder, homes| [folder, homes.except(*TABLE.fetch(folder))] }
    strangers = strangers.flat_map { |folder, homes| homes.map { |home, at| "#{folder} names #{home}: #{at.join(", ")}" } }
    assert_empty strangers, strangers.join("\n")
  end

  test "no folder may know another that it does not name" do
    idle = TABLE.flat_map { |folder, allowed| (allowed - uses[folder].keys).map { |home| "#{folder} => #{home}" } }
    assert_empty idle, "strike it from the table"
  end

  test "nobody knows who stands below: there is no circle" do
    known = []
    TABLE.each do |folder, allowed|
      assert_empty allowed - known, folder
      known << folder
    end
  end

  test "a name means the innermost definition around it" do
    Dir.mktmpdir do |folder|
      a, b = %w[a b].map { |name| File.join(folder, "#{name}.rb") }
      File.write(a, "module A; module B; X = 1; end; class C; B::X; Y; end; end")
      File.write(b, "module B; class X; end; end; Y = A::B")
      found = Architecture.new({a => "a", b => "b"}).uses
      assert_equal({"a" => {"b" => ["#{a}:1 Y"]}, "b" => {"a" => ["#{b}:1 A::B"]}}, found)
    end
  end

  test "only one file knows Puma" do
    knows = Dir["#{PROBE}/**/*.rb"].select do |path|
      text = File.read(path).gsub(/^\s*#.*/, "")
      text.match?(/(?<!\w)::Puma::/) || text.match?(/(server|pool|owner|klass|class)\.prepend\(/)
    end
    assert_equal %w[blocking_regions.rb prometheus_client.rb puma.rb yjit_off.rb], knows.map { |path| File.basename(path) }.sort
  end

  # All of the probe's folder, but for what runs as soon as it is loaded, and what is loaded by those that it is for.
  test "what runs in the serving process needs no gem, and nothing of the command's" do
    given = %w[autorun railtie].map { |name| File.join(PROBE, "puma_tuner/#{name}.rb") } + Dir["#{PROBE}/puma/**/*.rb"]
    script = <<~RUBY
      require "puma_tuner/probe"
      PumaTuner::Probe.start(way_in: "run")
      PumaTuner.export("tcp://127.0.0.1:0")
      ARGV.each { |path| require path }
      PumaTuner::Jobs.install
      ledgers = PumaTuner::Probe.recording.ledgers
      PumaTuner::Export::Server.new(ledgers, leader_pid: Process.pid, labels: {}, endpoints_max: 9).text
      puts $LOADED_FEATURES.grep(%r{/gems/|/lib/puma_tuner}).grep_v(%r{/probe/lib/}), "done"
    RUBY
    paths = Dir["#{PROBE}/**/*.rb"] - given
    output = IO.popen([RbConfig.ruby, "--disable-gems", "-I", PROBE, "-e", script, *paths, unsetenv_others: true], &:read)
    assert_equal "done\n", output
  end

  # Of C: a file calls those whose functions it names.
  test "the probe's C flows one way" do
    sources = Dir[File.expand_path("../probe/ext/puma_tuner_probe/*.c", __dir__)].to_h { |file| [File.basename(file), File.read(file)] }
    home = sources.flat_map { |file, text| text.scan(/^(?!static)\w[^;(\n]*?\b(pt_\w+)\([^;]*?\)\s*\{/).map { |(name)| [name, file] } }.to_h
    assert_operator home.size, :>, 40
    uses = sources.to_h { |file, text| [file, text.scan(/\bpt_\w+(?=\()/).filter_map { |name| home[name] }.uniq - [file]] }
    order = []
    until uses.empty?
      lowest = uses.select { |_, used| (used - order).empty? }.keys
      flunk "these C files call each other in a circle: #{uses.keys.sort.join(", ")}" if lowest.empty?
      order.concat(lowest)
      uses = uses.except(*lowest)
    end
    %w[ledger.c request.c gvl_clock.c].each_cons(2) { |lower, upper| assert_operator order.index(lower), :<, order.index(upper) }
  end
end
