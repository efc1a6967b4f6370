# frozen_string_literal: true

require "test_helper"
require "digest"
require "securerandom"
require "support/command_line"
require "support/served_app"
require "zlib"

# Secrets are planted wherever an app and its visitors have some, and every byte is searched that comes out: of commands, in their files, from
# servers that are watched. docs/reference/secrets.md says what is promised.
class SecretsTest < TunerTest
  include PumaTuner
  include CommandLine

  time_limit 300

  KINDS = %i[path query bare_query header cookie body body_file answer location exception variable rails_key database_url option other_option factor other_factor].freeze

  # Everything of a request is read, and some of it is passed on, as apps do. It rests in between: more responses a second show no more.
  RACKUP = <<~'RUBY'
    run lambda { |env|
      env["rack.input"]&.read
      case env["PATH_INFO"]
      when %r{\A/fail} then raise ArgumentError, "no account of #{ENV["EXCEPTION"]}, asked for with #{env["QUERY_STRING"]} and #{env["HTTP_AUTHORIZATION"]}"
      when %r{\A/moved} then next [302, {"location" => "https://u:#{ENV["ANSWER"]}@example.com/sessions/#{ENV["LOCATION"]}?return=#{ENV["LOCATION"]}"}, []]
      end
      2_000.times { |i| i.to_s }
      sleep(0.003)
      [200, {"content-type" => "text/plain", "set-cookie" => "session=#{ENV["ANSWER"]}"}, [ENV["ANSWER"].to_s]]
    }
  RUBY

  PLANTED = %w[config.ru requests.txt upload.bin].freeze

  SHORT_LOAD = %w[--requests requests.txt --connections 3].freeze
  SHORT_PROOF = %w[--duration 0.4 --warmup-window 0.15 --warmup-limit 0.5 --probe-duration 0.3 --noise-rounds 0 --busy-machine].freeze

  def setup
    @secrets = KINDS.to_h { |kind| [kind, SecureRandom.hex(12)] }
  end

  def secret(kind) = @secrets.fetch(kind)

  # Of the app: what it answers and says is of the environment, so that no planted file tells it.
  def environment(app)
    {"APP_PASSWORD" => secret(:variable), "RAILS_MASTER_KEY" => secret(:rails_key), "DATABASE_URL" => "postgres://shop:#{secret(:database_url)}@db/shop", "EXCEPTION" => secret(:exception),
     "ANSWER" => secret(:answer), "LOCATION" => secret(:location), "XDG_STATE_HOME" => File.join(app.folder, "state"), "RACK_ENV" => "development"}
  end

  # With this project's gems, and a secret.
  def server_words = ["env", "GEM_PATH=#{Gem.path.join(":")}", "TOKEN=#{secret(:option)}", RbConfig.ruby, Gem.bin_path("puma", "puma")]

  REQUESTS = <<~TEXT
    6 GET /articles/12
    2 GET /reset/%{path}?token=%{query}&page=2 "header:Authorization=Bearer %{header}" "header:Cookie=session=%{cookie}"
    1 GET /search?%{bare_query}
    1 POST /login body:password=%{body} header:X-Tenant=%{header}
    1 POST /upload body:@upload.bin
    1 GET /fail/%{path}?token=%{query} expect:500
    1 GET /moved/%{path}?token=%{query}
  TEXT

  def with_app(rackup: RACKUP, **)
    ServedApp.open(rackup:, **) do |app|
      File.write(File.join(app.folder, "requests.txt"), format(REQUESTS, @secrets))
      File.write(File.join(app.folder, "upload.bin"), secret(:body_file))
      yield app
    end
  end

  # These start nothing, and what they tell is the same in a fork of this process.
  START_NOTHING = %w[model predict advise report requests].freeze

  def run_command(app, *words, code: 0, shown: [])
    way = START_NOTHING.include?(words.first) ? :puma_tuner_in_fork : :puma_tuner
    result = public_send(way, *words, folder: app.folder, environment: environment(app))
    assert_equal code, result.code, result.err
    assert_no_secret("#{words.first}'s standard output", result.out)
    assert_no_secret("#{words.first}'s standard error", result.err, shown:)
    result
  end

  # @param shown [Array<Symbol>] what may be there
  def assert_no_secret(place, bytes, shown: [])
    found = (KINDS - shown).select { |kind| found?(secret(kind), bytes) }
    assert_empty found, "in #{place}: #{found.map { |kind| bytes.b[/.{0,160}#{secret(kind)}.{0,40}/n] }.first.inspect}"
  end

  # As it is, or packed; and no hash of it that anybody could compute.
  def found?(secret, bytes)
    [bytes, unpacked(bytes)].compact.any? { |text| [secret, Digest::SHA256.hexdigest(secret)[0, 12]].any? { |needle| text.b.include?(needle) } }
  end

  def unpacked(bytes)
    Zlib.gunzip(bytes) if bytes.b.start_with?("\x1F\x8B".b)
  rescue Zlib::Error
    nil
  end

  # All that was written, but what was planted.
  # @return [Integer] of files
  def assert_no_secret_in_files(folder, except: PLANTED)
    files = Dir.glob("**/*", File::FNM_DOTMATCH, base: folder).select { |name| File.file?(File.join(folder, name)) } - except
    files.each { |name| assert_no_secret(name, File.binread(File.join(folder, name))) }
    files.size
  end

  # Ledgers and whatever else a run has, but for what the server printed. Those of other tests may be there, and go meanwhile.
  def assert_no_secret_in_memory(folder)
    read = Dir[File.join(Host::ScratchFolder.path, folder, "**/*")].select { |path| File.file?(path) && !File.basename(path).start_with?("server.log") }.count do |path|
      assert_no_secret(path, File.binread(path)) || true
    rescue SystemCallError
      false
    end
    assert_operator read, :>, 0
  end

  # Each document, as people look at it.
  def assert_no_secret_in_reports(app, *documents)
    documents.each do |name|
      run_command(app, "report", name)
      document = Document.read(File.join(app.folder, name))
      shown = Report.formats.count { |format| rendered(document, format)&.then { |bytes| assert_no_secret("#{name} as #{format}", bytes) || true } }
      assert_operator shown, :>=, 2, name
    end
  end

  def rendered(document, format)
    Report.render(document, format:)
  rescue UsageError => mistake
    assert_match(/cannot be shown as #{format}/, mistake.message)
    nil
  end

  test "a secret would be found: in plain files, packed ones, and as a hash without a key" do
    [secret(:body), Zlib.gzip("a#{secret(:body)}b"), "x #{Digest::SHA256.hexdigest(secret(:body))}"].each do |bytes|
      assert_raises(Minitest::Assertion) { assert_no_secret("here", bytes) }
    end
    assert_no_secret("here", "nothing")
  end

  test "measured under load, modelled, forecast and advised" do
    with_app do |app|
      run_command(app, "measure", "--load", *SHORT_LOAD, "--duration", "1", "--warmup", "0.4", "--settings", "1x1", "--html", "m.html", "config.ru")
      observation = "tmp/puma_tuner/observation.json"
      run_command(app, "model", observation)
      run_command(app, "predict", observation, "--threads", "1..2", "--workers", "1", "--html", "p.html")
      run_command(app, "advise", observation, "--threads", "1..2", "--workers", "1")
      assert_no_secret_in_reports(app, *%w[observation workload sweep advice].map { |name| "tmp/puma_tuner/#{name}.json" })
      recorded = Document.read(File.join(app.folder, observation), :observation)
      assert_equal ["GET /articles/:id", "GET /fail/:id", "GET /moved/:id", "GET /reset/:id", "GET /search", "POST /login", "POST /upload"], recorded.endpoints.map(&:name).sort
      assert_operator assert_no_secret_in_files(app.folder), :>=, 6
    end
  end

  # Its own output is passed on to whoever started it, as without us.
  test "around a command that has some in its words, and while its server runs" do
    with_app do |app|
      words = [*server_words, "-b", "tcp://127.0.0.1:0", "--control-url", "tcp://127.0.0.1:0", "--control-token", secret(:other_option), "config.ru"]
      commands = Array.new(2) do |index|
        output = "#{index}.json"
        around(app, "measure", "--output", output, "--", *words) do |port|
          send_requests(port)
          assert_no_secret_in_memory("puma_tuner-run-*")
        end
        Document.read(File.join(app.folder, output), :observation).command
      end
      assert_match(/\Aenv GEM_PATH=\S+ TOKEN=\(\h{16}\) ruby \S+puma .* --control-token \(\h{16}\) config\.ru\z/, commands.first)
      assert_equal(*commands, "recordings of one app can be joined")
      assert_operator assert_no_secret_in_files(app.folder), :>=, 2
    end
  end

  # @yieldparam port [Integer] of the server, until it is ended by Ctrl-C
  def around(app, *words)
    out, err = %w[out err].map { |name| File.join(Dir.tmpdir, "puma_tuner-test-#{Process.pid}.#{name}") }
    pid = start_puma_tuner(*words, environment: environment(app), chdir: app.folder, out:, err:)
    wait_until("measuring") { File.read(err).include?("measuring until") }
    yield File.read(err)[/Listening on http:\/\/127\.0\.0\.1:(\d+)/, 1].to_i
    Process.kill(:INT, pid)
    Process.wait(pid)
    pid = nil
    assert_equal 0, $?.exitstatus, File.read(err)
    assert_no_secret("standard output", File.read(out))
    assert_no_secret("standard error", File.read(err), shown: %i[exception path query bare_query header])
  ensure
    # It stops its server itself.
    Process.kill(:INT, pid) && Process.wait(pid) if pid
    FileUtils.rm_f([out, err])
  end

  def send_requests(port)
    headers = {"Authorization" => "Bearer #{secret(:header)}", "Cookie" => "session=#{secret(:cookie)}"}
    Net::HTTP.start("127.0.0.1", port) do |http|
      %w[reset fail moved].each { |word| 3.times { http.get("/#{word}/#{secret(:path)}?token=#{secret(:query)}&#{secret(:bare_query)}", headers) } }
      http.post("/login", "password=#{secret(:body)}", {**headers, "Content-Type" => "application/x-www-form-urlencoded"})
    end
  end

  test "proven, with variables and a command as factors, by its journal and its summary, and taken up again" do
    with_app do |app|
      factors = ["--factor", "env.FACTOR=#{secret(:factor)},#{secret(:other_factor)}", "--factor", "env.SLEEP_MS=1"]
      run_command(app, "prove", *SHORT_LOAD, *SHORT_PROOF, *factors, "--rounds", "1", "--html", "p.html", "--markdown", "p.md", "config.ru")
      verdict = Document.read(File.join(app.folder, "tmp/puma_tuner/verdict.json"), :verdict)
      assert_equal ["env.FACTOR=value 1 env.SLEEP_MS=1", "env.FACTOR=value 2 env.SLEEP_MS=1"], verdict.cells.map(&:variant)
      assert_includes verdict.cells.first.remarks.map { |remark| in_words(remark) }.join, "GET /moved/:id of the mix: redirected to https://example.com/sessions/:id."
      # The same hash as the server's own, so that who reads it can tell what ran.
      verdict.cells.each { |cell| assert_equal cell.fingerprint.fetch([:env, "FACTOR"]), cell.factors.fetch("env.FACTOR") }
      run_command(app, "prove", *SHORT_LOAD, *SHORT_PROOF, *factors, "--rounds", "1", "--resume", "config.ru")
      words = [*SHORT_PROOF, "--path", "/reset/#{secret(:path)}?token=#{secret(:query)}&#{secret(:bare_query)}", "--topologies", "1x1,1x2", "--output", "of_command.json", "--rounds"]
      run_command(app, "prove", *words, "1", "--", *server_words, "config.ru")
      run_command(app, "prove", *words, "2", "--resume", "--", *server_words, "config.ru", code: 2)
      run_command(app, "prove", "--no-such-option", *words, "1", "--", *server_words, "config.ru", code: 2)
      assert_no_secret_in_reports(app, "tmp/puma_tuner/verdict.json")
      assert_operator assert_no_secret_in_files(app.folder), :>=, 4
    end
  end

  test "proven, with what an app says when it fails under load: told on standard error alone" do
    # The look at it beforehand is over by then.
    rackup = "first_s = nil\n#{RACKUP.sub("lambda { |env|", <<~'RUBY')}"
      lambda { |env|
        now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        ((first_s ||= now_s) < now_s - 2) && $stderr.puts("gone: #{ENV["EXCEPTION"]}").nil? && exit!(3)
    RUBY
    with_app(rackup:) do |app|
      words = ["--variant", "a:", "--variant", "b:env.FACTOR=#{secret(:factor)}", "--rounds", "2", "--turns", "4"]
      result = run_command(app, "prove", *SHORT_LOAD, *SHORT_PROOF, "--duration", "2.5", *words, "config.ru", "--html", "p.html", code: 3, shown: %i[exception path query header])
      assert_match(/void.*#{secret(:exception)}/, result.err)
      assert_operator assert_no_secret_in_files(app.folder), :>=, 3
    end
  end

  test "tuned, where the proof fails by what the app says" do
    rackup = "raise \"no license \#{ENV[\"EXCEPTION\"]}\" if Puma.cli_config&.options&.[](:workers).to_i > 1\n#{RACKUP}"
    with_app(rackup:) do |app|
      words = %w[--duration 1.5 --warmup 0.4 --trial-duration 0.4 --threads 1..2 --workers 1 --check 2x1 --today 1x1 --no-calibrate --settings 2x1 --rounds 1 --html t.html --output t.json]
      result = run_command(app, "tune", *SHORT_LOAD, *words, "--", *server_words, "config.ru", code: 3, shown: %i[exception])
      assert_match(/nothing is proven: \S+: env .*TOKEN=\(\h{16}\) .* ended before it served.*#{secret(:exception)}/m, result.err)
      assert_no_secret_in_reports(app, "t.json")
      assert_operator assert_no_secret_in_files(app.folder), :>=, 2
    end
  end

  test "profiled: a server, and single requests" do
    %w[stackprof vernier].each { |name| skip "#{name} is not installed: puma_tuner profile --install #{name}" unless Profile::Library.installed?(Probe::Profilers.find(name)) }
    with_app do |app|
      run_command(app, "profile", *SHORT_LOAD, "--duration", "1", "--warmup", "0.3", "--output", "server.json", "--html", "server.html", "--", *server_words, "config.ru")
      path = "/reset/#{secret(:path)}?token=#{secret(:query)}&#{secret(:bare_query)}"
      run_command(app, "profile", "--with", "vernier", "--request", path, "--output", "request.json", "config.ru")
      assert_match(/GET \/reset\/:id of/, Document.read(File.join(app.folder, "request.json"), :profile).target)
      assert_no_secret_in_reports(app, "server.json", "request.json")
      run_command(app, "profile", "--request", "/fail/#{secret(:path)}?token=#{secret(:query)}", "config.ru", code: 3)
      assert_operator assert_no_secret_in_files(app.folder), :>, 4
    end
  end

  test "by a server that prints and exports, and whose own names of endpoints fail" do
    grouping = "PumaTuner.group_endpoints { |env| env[\"PATH_INFO\"].start_with?(\"/fail\") ? raise(\"no group for \#{env[\"HTTP_COOKIE\"]}\") : nil }"
    puma_rb = "threads 2, 2\nworkers 2\nplugin :puma_tuner_exporter\nrequire \"puma_tuner/probe\"\n#{grouping}\nPumaTuner.run(interval_s: 0.3, locks: true)\n#{ServedApp::STOPPING}"
    exporter = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    with_app(puma_rb:) do |app|
      port = app.start(extra: {**environment(app), "PUMA_TUNER_EXPORTER" => "tcp://127.0.0.1:#{exporter}"})
      app.wait_for_line(/Worker 1 .*booted/)
      4.times { send_requests(port) }
      app.wait_for_line(/Recommended/)
      metrics = wait_until("metrics of all") do
        text = Net::HTTP.get(URI("http://127.0.0.1:#{exporter}/metrics")) rescue "" # standard:disable Style/RescueModifier
        text if text.include?("GET /moved/:id")
      end
      assert_no_secret("/metrics", metrics)
      assert_no_secret_in_memory("puma_tuner-#{Process.uid}")
      lines = app.stop
      assert_includes 1..2, lines.grep(/own grouping of endpoints failed/).size, "once in a worker"
      # Puma itself says what an app raised.
      assert_no_secret("its output", lines.grep(/puma_tuner|puma srv|Recommended/).join("\n"))
    end
  end

  test "sent to a server that runs, taken from a log, and where files and addresses are wrong" do
    with_app do |app|
      port = app.start(extra: environment(app))
      run_command(app, "load", "http://127.0.0.1:#{port}", *SHORT_LOAD, "--duration", "0.5", "--output", "load.json", "--raw", "raw.csv")
      run_command(app, "load", "http://127.0.0.1:#{port}", "--path", "/moved/#{secret(:path)}?token=#{secret(:query)}", "--duration", "0.3", code: 3)
      run_command(app, "load", "http://u:#{secret(:option)}@127.0.0.1:#{port}/x?a=#{secret(:query)}", code: 2)
      run_command(app, "load", "http://127.0.0.1:#{port}", "--path", "reset?token=#{secret(:query)}", code: 2)
      File.write(File.join(app.folder, "access.log"), Array.new(20) { |i| format('192.0.2.1 - - [10/Oct/2026:13:55:%02d +0000] "GET /reset/%s?token=%s HTTP/1.1" 200 2326 "-" "curl"', i, secret(:path), secret(:query)) }.join("\n"))
      run_command(app, "requests", "--from", "access.log", "--output", "from_log.txt")
      wrong = ["GET /a header:Authorization=Bearer #{secret(:header)}", "TOKEN=#{secret(:variable)}", "GET #{secret(:query)}", "GET /a 'header:X Y=#{secret(:header)}'", "GET /a expect:#{secret(:body)}"]
      wrong.each do |line|
        File.write(File.join(app.folder, "wrong.txt"), line)
        assert_mistake(/wrong\.txt, line 1/, run_command(app, "load", "http://127.0.0.1:#{port}", "--requests", "wrong.txt", code: 2))
      end
      assert_operator assert_no_secret_in_files(app.folder, except: [*PLANTED, "access.log", "wrong.txt"]), :>=, 3
    end
  end
end
