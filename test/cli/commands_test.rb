# frozen_string_literal: true

require "test_helper"
require "open3"
require "shellwords"
require "support/command_line"
require "support/tuning_fixture"
require "tmpdir"

# What holds for every command: its help, its options' names, how it ends.
class CommandsTest < TunerTest
  include CommandLine
  include PumaTuner

  # Dozens of commands, one after the other.
  time_limit 300

  def in_folder(&) = Dir.mktmpdir("puma_tuner-test", &)

  def commands = CLI::Commands.all

  test "every command's help tells its options, the common ones first" do
    commands.each do |name, command|
      help = CLI::Help.new(command).to_s
      assert_includes help, "Usage: puma_tuner #{name}"
      command.declared.each_value { |option| assert_match(/^  #{Regexp.escape(option.usage)}(  |$)/, help, name) }
      groups = help.scan(/^(\S.*):$/).flatten - ["Examples"]
      assert_equal CLI::Dictionary::TABLE.keys & groups, groups, name
      assert_operator help.lines.map(&:chomp).grep_v(/^  puma_tuner /).map(&:length).max, :<=, 120, name
    end
  end

  test "what is printed fits a screen, unless all is asked for" do
    in_folder do |folder|
      Document.write(TuningFixture.tuning, File.join(folder, "tuning.json"))
      brief, verbose = [[], ["--verbose"]].map { |words| puma_tuner("report", "tuning.json", *words, folder:) }
      assert_equal [0, 0], [brief.code, verbose.code], brief.err + verbose.err
      assert_match(/^There is more: --verbose/, brief.out)
      assert_match(/^Details$/, verbose.out)
      assert_equal 2, puma_tuner("model", "x.json", "--verbose", folder:).code
    end
  end

  test "every command has help that ends with 0, as has the front page, which names them all" do
    [[], %w[--help], %w[help], *commands.keys.map { |name| [*name.split, "--help"] }, %w[help tune], %w[yjit -h]].each do |words|
      result = puma_tuner(*words)
      assert_equal [0, ""], [result.code, result.err], words
      assert_match(/^Usage: puma_tuner|^puma_tuner shows where/, result.out)
    end
    front = puma_tuner("--help").out
    commands.each_key { |name| assert_includes front, "puma_tuner #{name[/\w+/]}", name }
  end

  test "the word that some commands begin with has help that tells what each of them is for" do
    [%w[lab --help], %w[help lab]].each do |words|
      result = puma_tuner(*words)
      assert_equal [0, ""], [result.code, result.err], words
      commands.keys.grep(/\Alab /).each { |name| assert_includes result.out, "puma_tuner #{name}" }
      commands.values_at(*commands.keys.grep(/\Alab /)).each { |command| assert_includes result.out, command.about.split(",").first }
    end
  end

  # Words => exit code, and what is told; in a folder with nothing in it.
  ENDINGS = {
    %w[tune] => [2, /no app given, and there is no config\.ru in .*: stand in the app's folder/], %w[tune nowhere.ru] => [2, /there is no nowhere\.ru/],
    %w[tune .] => [2, %r{there is no \./config\.ru}], %w[tune --directory nowhere -- puma] => [2, /--directory nowhere: there is no such folder/],
    %w[measure] => [2, /no app given/], %w[measure --rate] => [2, /--rate needs a value: --rate RATE/],
    %w[model] => [2, /OBSERVATION is missing: file written by `puma_tuner measure`/], %w[model nowhere.json] => [2, /cannot read nowhere\.json/],
    %w[predict nowhere.json] => [2, /cannot read nowhere\.json/], %w[predict x.json --requests 9] => [2, /--requests means something else now; write --simulated-requests/],
    %w[advise nowhere.json] => [2, /cannot read nowhere\.json/], %w[prove] => [2, /at least two variants/], %w[prove --warmup 1] => [2, /write --warmup-window/],
    %w[prove --calibrate 9] => [2, /write --false-alarms/], %w[prove --topologies 1x1,1x2] => [2, /no app given/], %w[prove --resume=yes] => [2, /--resume takes no value/],
    %w[report] => [2, /DOCUMENT is missing/], %w[report a b] => [2, /"b" is an argument too many/], %w[profile] => [2, /no app given/], %w[profile --list] => [0, /\A\z/],
    %w[profile --url http://127.0.0.1:1/ --token 12345678901234567890] => [3, /Check that a server is listening there/], %w[diff one.json] => [2, /AFTER is missing/], %w[compare one.log] => [2, /AFTER is missing/],
    %w[tradeoff] => [2, /SUBJECTS is missing: yjit, malloc or gc/], %w[tradeoff yjit] => [2, /no app given/], %w[gc] => [2, /no app given/],
    %w[lanes] => [2, /RECORDING is missing: file written by `puma_tuner measure --lanes`/], %w[lanes nowhere.json] => [2, /cannot read nowhere\.json/],
    %w[requests] => [2, /which requests/], %w[requests --arrivals a] => [2, /write --instants/], %w[load] => [2, /no URL given/], %w[load http://127.0.0.1:1 --duration 9] => [3, /no request was answered/],
    %w[top nowhere] => [2, /nowhere is neither a process id nor a folder/], %w[trial 1] => [2, /name the number of threads to try: --threads 3/], %w[trial --replay nowhere] => [2, /cannot read nowhere/], %w[trial one --threads 3] => [2, /one is neither a process id nor a folder/],
    %w[auto --act yes] => [2, /--act yes: write one of observe, trial, auto/], %w[auto one] => [2, /one is neither a process id nor a folder/], %w[auto --cool-down 1s] => [2, /--cool-down 1s: write a time/],
    %w[calibrate --ruby 9.9.9] => [2, /there is no such Ruby/], %w[fleet] => [2, /--a is missing/],
    ["fleet", "--url", "http://127.0.0.1:1", "--a", '{a="b"}', "--b", '{a="c"}'] => [3, /cannot connect to/],
    %w[lab] => [2, /name one of: puma_tuner lab list, puma_tuner lab setup/], %w[lab setup] => [2, /name the labs/], %w[lab run nothing] => [2, /there is no lab nothing/], %w[lab list] => [0, /\A\z/],
    %w[completion tcsh] => [2, /no completion for "tcsh"; choose one of bash, zsh, fish/], %w[completion fish] => [0, /\A\z/], %w[version] => [0, /\A\z/], %w[-v] => [0, /\A\z/],
    %w[tnue] => [2, /there is no command "tnue"; did you mean tune\?/], %w[xyzzyq] => [2, /the commands are tune, measure, model/], %w[config.ru] => [2, /puma_tuner tune config\.ru/],
    %w[--path /] => [2, /begin with a command/], %w[tune --pth /] => [2, /there is no option --pth; did you mean --path\? .*after `--`.* See `puma_tuner tune --help`/],
    %w[tune --topologies 1x1] => [2, /there is no option --topologies here/], %w[tune puma -p 80] => [2, /there is no option -p.*Options of the app's own command go after `--`/],
    %w[tune --directory ~nobody-of-that-name -- puma] => [2, /--directory ~nobody-of-that-name: .*; give another path/], %w[top ~nobody-of-that-name] => [2, /~nobody-of-that-name is neither a process id nor a folder/],
    %w[tune ~nobody-of-that-name/config.ru] => [2, %r{there is no ~nobody-of-that-name/config\.ru: stand in the app's folder}],
    %w[prove ~nobody-of-that-name/a.ru b.ru] => [2, %r{there is no ~nobody-of-that-name/a\.ru}], %w[advise ~nobody-of-that-name/o.json] => [2, %r{cannot read ~nobody-of-that-name/o\.json}],
    %w[measure --output ~nobody-of-that-name/o.json -- puma] => [2, %r{--output ~nobody-of-that-name/o\.json: .*; give another path}],
    %w[profile --block ~nobody-of-that-name/b.rb] => [2, %r{--block ~nobody-of-that-name/b\.rb: .*; give another path}], %w[report /dev/null/o.json] => [2, %r{cannot read /dev/null/o\.json: Not a directory}],
    %w[calibrate --ruby ~nobody-of-that-name/ruby] => [2, %r{ruby=~nobody-of-that-name/ruby: .*; give another path}],
    %w[profile --url mailto:x --token 12345678901234567890] => [2, %r{mailto:\S+ is not an http:// address}],
    ["report", "caf\xE9.json"] => [2, /word 2 of the command is not UTF-8 text/], ["predict", "x.json", "--memory", "#{"9" * 400}GiB"] => [2, /write a size .* at most a million TB/]
  }.freeze

  test "every command ends with its exit code and message when arguments are missing or wrong" do
    in_folder do |folder|
      ENDINGS.each do |words, (expected, pattern)|
        result = expected.zero? ? puma_tuner(*words, folder:) : puma_tuner_in_fork(*words, folder:)
        assert_equal expected, result.code, "#{words.join(" ")}: #{result.err}"
        assert_match(pattern, result.err, words)
        assert_operator result.err.lines.size, :<=, 3, result.err
        assert_empty Dir.children(folder), words
      end
    end
    assert_empty commands.keys.map { |name| name[/\w+/] } - ENDINGS.keys.map(&:first)
  end

  test "a command that tests run in a fork of theirs ends, prints and fails as in a process of its own" do
    in_folder do |folder|
      Document.write(TuningFixture.tuning, File.join(folder, "tuning.json"))
      [%w[version], %w[tnue], %w[tune nowhere.ru], %w[predict nowhere.json], %w[report tuning.json --verbose]].each do |words|
        own, forked = [puma_tuner(*words, folder:), puma_tuner_in_fork(*words, folder:)].map { |result| [result.code, result.out.b, result.err.b] }
        assert_equal own, forked, words
      end
    end
  end

  # The matrix does it with Ruby 3.3, whose OptionParser does not take them when it is told to take whole names alone.
  test "a name may have its value after =, a switch its no, and neither is taken by its beginning" do
    tune = commands.fetch("tune")
    values = tune.parse(%w[--path=/a,/b --no-calibrate --output --html=-x])
    assert_equal [%w[/a /b], false, "--html=-x"], values.values_at(:path, :calibrate, :output)
    assert_equal [File.join(Dir.home, "r.html"), "o~"], tune.parse(%w[--html=~/r.html --output=o~]).values_at(:html, :output), "no shell sees the home there"
    %w[--calib --no-calib --dur=3 -p].each { |word| assert_match(/there is no option #{word[/\A[^=]*/]}/, assert_raises(UsageError) { tune.parse([word]) }.message) }
  end

  test "an option that is misspelled is named with the one that was meant, and its value is not" do
    commands.each_value do |command|
      command.declared.each_value.reject { |option| option.flag.length < 7 }.each do |option|
        wrong = option.flag[0..3] + option.flag[4..].sub(/(\w)(\w)/, '\2\1').then { |rest| (rest == option.flag[4..]) ? rest.chop : rest }
        next if command.declared.each_value.any? { |other| other.flag == wrong }
        message = assert_raises(UsageError) { command.parse(["#{wrong}=s3cret"]) }.message
        assert_match(/\Athere is no option #{wrong}\b.*did you mean --\S+\?/, message)
        refute_includes message, "s3cret"
      end
    end
  end

  test "a name means one thing: each option is of the dictionary, and of one type, or a list of it" do
    used = commands.reject { |name,| name.start_with?("lab ") }.values.flat_map { |command| command.declared.values }
    assert_empty CLI::Dictionary::ALL.keys - used.map(&:name)
    types = used.group_by(&:name).transform_values { |options| options.map(&:type).uniq }.select { |_, all| all.size > 1 }
    assert_equal({rate: %i[count rates], threads: %i[counts count], connections: %i[count counts]}, types)
    CLI::Dictionary::ALL.each_value { |option| refute_match(/\n|\.\z/, option.about) }
  end

  test "values have the type of their option, and defaults, too" do
    tune = CLI::Commands::Tune.parse(%w[--path /a,/b --threads 1,3..4 --memory 512MiB --slo 99%<20ms --time 5m --check 1x2 --no-locks app --seed=7 -- --path x])
    assert_equal({path: %w[/a /b], threads: [1, 3, 4], memory: 512 << 20, slo: [PumaTuner::Goal.read("99% < 20ms")], time: 300.0, check: [Topology.parse("1x2")], locks: false, app: %w[app --path x], seed: 7,
      duration: 8.0, calibrate: true, settings: nil, rounds: nil, workers: nil}, tune.slice(*%i[path threads memory slo time check locks app seed duration calibrate settings rounds workers]))
    predict = CLI::Commands::Predict.parse(%w[o.json --rate 5,2 --what-if a --what-if=b --slo 95%<60ms --slo=99.9%<80ms])
    assert_equal [[2.0, 5.0], %w[a b], ["95% < 60 ms", "99.9% < 80 ms"], "o.json", []], {**predict, slo: predict[:slo].map(&:to_s)}.values_at(:rate, :what_if, :slo, :observation, :companions)
    assert_equal [nil, "-", "a.json", "b.json"], [[], %w[--output - --seed 1], %w[--output=a.json], %w[--output b.json]].map { |words| CLI::Commands::Load.parse(words)[:output] }
  end

  PROJECT = File.expand_path("../..", __dir__)

  # @return [Hash{String => Array<String>}] lines of documents, examples of help and the Rakefile's kind => words after `puma_tuner`
  def told_commands
    documents = Dir["#{PROJECT}/{README.md,docs/**/*.md,labs/**/README.md}"].flat_map { |path| File.read(path).gsub(/ *\\\n */, " ").lines.grep(/^    (?:[\w.\/]+ )?puma_tuner \w/) }
    examples = commands.flat_map { |name, command| command.examples.map { |line| "puma_tuner #{name} #{line}" } }
    (documents + examples).to_h { |line| [line.strip, Shellwords.split(line[/puma_tuner .*/].sub(/ +#.*/, "").sub(/ [>|&].*/, "")).drop(1)] }
  end

  test "every command that documents and help tell is understood" do
    assert_operator told_commands.size, :>, 60
    told_commands.each do |line, words|
      command, rest = CLI::Commands.find(words)
      assert_kind_of Hash, command.parse(rest), line unless rest.include?("--help")
    rescue UsageError => mistake
      flunk "#{line}: #{mistake.message}"
    end
  end

  test "a program of one word is a command, and a file that can't be run is refused with what to give, unless it is a rackup file" do
    Dir.mktmpdir do |folder|
      Dir.chdir(folder) do
        File.write("serve", "#!/bin/sh\n", perm: 0o755)
        File.write("served.ru", "run App\n")
        File.write("app.rb", "require 'sinatra'\n")
        File.write("Procfile", "release: bin/rails db:migrate\nweb: SECRET=hunter2 bundle exec puma -C config/puma.rb\n")
        File.write("Procfile.dev", "\xFF\ncss: yarn build\n")
        app = CLI::Options::App
        assert_equal ["./serve"], app.from({app: ["./serve"]}).command.words
        assert_equal "served.ru", app.from({app: ["served.ru"]}).command.words.last
        assert_includes app.from({app: ["served.ru"]}).command.words, "puma"
        mistake = ->(path) { assert_raises(UsageError) { app.from({app: [path]}).command }.message }
        told = mistake.call("Procfile")
        assert_match(/\AProcfile is no rackup file, .*: give the app's folder, .* after `--`, such as `-- env SECRET\S+ bundle exec puma -C config\/puma\.rb`\z/, told)
        refute_includes told, "hunter2"
        assert_match(/such as `-- bundle exec puma`\z/, mistake.call("Procfile.dev"))
        File.chmod(0, "Procfile.dev")
        assert_match(/such as `-- bundle exec puma`\z/, mistake.call("Procfile.dev"), "which may not be read")
        File.write("Procfile", "web: RAILS_ENV=production bundle exec puma -p 3000\n")
        assert_match(/such as `-- env RAILS_ENV=production bundle exec puma -p 3000`\z/, mistake.call("Procfile"))
        ["bundle exec puma -p 3000", "exec bundle exec puma -p 3000"].each do |line|
          File.write("Procfile", "web: #{line}\n")
          assert_match(/such as `-- bundle exec puma -p 3000`\z/, mistake.call("Procfile"))
        end
        File.write("Procfile", "web: TAGS='to exec it' RAILS_ENV=production exec bundle exec puma\n")
        assert_match(/such as `-- env TAGS.* RAILS_ENV\S*production bundle exec puma`\z/, mistake.call("Procfile"))
        # A line for a shell is one word, else the shell in which the suggestion is typed would start what follows `&&`.
        ["cd shop && RAILS_ENV=production bundle exec puma", "bin/prepare; bundle exec puma -p 3000 2>&1 | tee 'a log'"].each do |line|
          File.write("Procfile", "web: #{line}\n")
          suggested = mistake.call("Procfile")[/such as `-- (.*)`\z/, 1]
          assert_equal ["sh", "-c", line], Shellwords.split(suggested)
        end
        File.write("Procfile", "web: bundle exec puma -b 'tcp://[::]:3000?low_latency=true&backlog=9'\n")
        assert_match(/such as `-- bundle exec puma -b /, mistake.call("Procfile"))
        # What is quoted is no shell's, so that no part of a secret is taken for a command.
        {"SECRET=hunter2" => "", "SECRET='a;hunter2;b'" => " 2>&1 | tee log", 'SECRET="a\"b;hunter2;c"' => ">log"}.each do |variable, rest|
          File.write("Procfile", "web: cd shop && #{variable} bundle exec puma#{rest}\n")
          told = mistake.call("Procfile")
          assert_match(/such as `-- sh -c 'cd shop && SECRET=\S+ bundle exec puma#{Regexp.escape(rest)}'`\z/, told)
          refute_includes told, "hunter2"
        end
        assert_match(/such as `-- bundle exec ruby app\.rb`\z/, mistake.call("app.rb"))
      end
    end
  end

  test "what is served from another folder than the one that is meant is refused or told, and a configuration of Puma is no app" do
    Dir.mktmpdir do |folder|
      Dir.chdir(folder) do
        %w[config shop puma].each { |name| Dir.mkdir(name) }
        %w[config.ru config/puma.rb config/app.ru shop/config.ru puma/app.rb].each { |path| File.write(path, "") }
        File.symlink("shop", "current")
        command = ->(*app, directory: nil) { CLI::Options::App.from({app:, directory:}).command }
        mistake = ->(*app, **directory) { assert_raises(UsageError) { command.call(*app, **directory) }.message }
        assert_match(%r{config/puma\.rb configures Puma, and is no app: .* `-- bundle exec puma -C config/puma\.rb`}, mistake.call("config/puma.rb"))
        assert_match(/config\.ru does not lie in --directory shop, and is served from its own folder/, mistake.call("config.ru", directory: "shop"))
        served = ->(app, **directory) { capture_io { assert_equal File.join(Dir.pwd, File.dirname(app)), command.call(app, **directory).directory } }
        served.call("shop/config.ru", directory: "current")
        assert_match(%r{\Apuma/app\.rb is no rackup file}, mistake.call("puma/app.rb"))
        told = %w[config.ru shop config/app.ru].map { |app| capture_io { command.call(app, directory: (app if app == "shop")) }.last }
        assert_equal ["", true, true], [told.first, *told.drop(1).map { |text| text.match?(%r{is served from its own folder, .*`-- bundle exec puma (shop/config|config/app)\.ru`}) }]
      end
    end
  end

  # @param code [String] what a command does, in Ruby
  def ended_by(code)
    in_folder do |folder|
      File.write(File.join(folder, "end.rb"), "require 'puma_tuner'; class PumaTuner::CLI::Commands::Version; def call = #{code}; end")
      puma_tuner("version", environment: {"RUBYOPT" => "#{ENV["RUBYOPT"]} -r#{folder}/end.rb"})
    end
  end

  test "our bugs end with 70, and where they are" do
    {"raise('wrong on purpose')" => "RuntimeError", "raise(PumaTuner::InvariantError, 'wrong on purpose')" => "PumaTuner::InvariantError"}.each do |code, name|
      result = ended_by(code)
      assert_equal 70, result.code
      assert_match(/our bug, please report it: wrong on purpose \(#{name}\)\n.*end\.rb:1/, result.err)
    end
  end

  test "too little memory ends with 3 and what to do, a recursion without end with 70 and its first lines" do
    result = ended_by("'x' * (1 << 62)")
    assert_equal [3, 1], [result.code, result.err.lines.size]
    assert_match(/\Apuma_tuner: there is not enough memory for this\. Give it less to read or to compute/, result.err)
    result = ended_by("call")
    assert_equal 70, result.code
    assert_match(/\Apuma_tuner: this is our bug, please report it: stack level too deep \(SystemStackError\)\n.*end\.rb:1/, result.err)
    assert_operator result.err.lines.size, :<, 40
  end

  test "what was asked wrongly ends with 2, what could not be measured with 3, what was not as expected with 1: no backtrace" do
    {"raise(PumaTuner::UsageError, 'write it otherwise')" => [2, "puma_tuner: write it otherwise\n"],
     "raise(PumaTuner::ServerFailed.new('It fell', log_tail: %w[boom]))" => [3, /\Apuma_tuner: It fell\. Start it by hand.*\nIts last lines:\n  \| boom\n\z/],
     "raise(PumaTuner::InvalidMeasurement, 'too few requests')" => [3, "puma_tuner: too few requests\n"], "raise(PumaTuner::CLI::Exit.new(1))" => [1, ""]}.each do |code, (status, said)|
      result = ended_by(code)
      assert_equal status, result.code, code
      assert_operator said, :===, result.err, code
    end
  end

  test "a pipe that is closed ends it with a word, and no backtrace" do
    reader, writer = IO.pipe
    reader.close
    err_reader, err_writer = IO.pipe
    pid = start_puma_tuner("tune", "--help", out: writer, err: err_writer)
    [writer, err_writer].each(&:close)
    assert_equal 141, Process.wait2(pid).last.exitstatus
    assert_match(/\Apuma_tuner: its output is no longer read.*\n\z/, err_reader.read)
  end

  test "what has no place to be printed to ends it with a sentence, at once or when all is written out" do
    [%w[version], %w[tune --help], %w[completion bash], %w[help]].each do |words|
      reader, writer = IO.pipe
      pid = start_puma_tuner(*words, out: "/dev/full", err: writer)
      writer.close
      assert_equal 2, Process.wait2(pid).last.exitstatus, words.join(" ")
      assert_equal "puma_tuner: what it prints could not be written: No space left on device. Give another place.\n", reader.read
    end
  end

  test "what can't be told beside the results any more does not end the work" do
    reader, writer = IO.pipe
    reader.close
    [writer, "/dev/full"].each do |err|
      assert_equal 2, Process.wait2(start_puma_tuner("tnue", err:)).last.exitstatus
    end
    writer.close
    teller = CLI::Teller.new(File.open("/dev/full", "w").tap { |file| file.sync = true })
    assert_equal [nil] * 3, [teller.puts("a"), teller.print("a"), teller.write("a")]
    teller.close
  end

  # @return [Array<String>] what bash offers after these words
  def completed(*words)
    script = "#{CLI::Completions.bash}\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); _puma_tuner; printf '%s\\n' \"${COMPREPLY[@]}\""
    out, status = Open3.capture2e("bash", "-c", script, "bash", "puma_tuner", *words)
    assert status.success?, out
    out.split("\n")
  end

  test "bash completes commands, their options, and files where these are meant" do
    assert_equal %w[tune tradeoff top trial], completed("t")
    assert_equal %w[--warmup-window --warmup-limit], completed("prove", "--warm")
    assert_equal %w[--workers], completed("predict", "o.json", "--wo")
    assert_equal [""], [completed("model", "--thr")].map { |found| found.join }
    assert_equal %w[setup], completed("lab", "se")
    assert_includes completed("tradeoff", "mal"), "malloc"
    assert_includes completed("load", "--requests", "test/cli/comm"), "test/cli/commands_test.rb"
    assert_empty completed("load", "--rate", "").join
  end

  test "each shell is told every command and option" do
    CLI::Completions::SHELLS.each_value do |shell|
      script = CLI::Completions.public_send(shell)
      commands.each { |name, command| [name[/\w+/], *command.declared.values.map { |option| option.name.to_s.tr("_", "-") }].each { |word| assert_includes script, word, shell } }
    end
  end

  test "the manual page is what the table of commands makes" do
    assert_equal CLI::ManPage.to_s, File.read(File.expand_path("../../man/puma_tuner.1", __dir__)), "write it anew: rake man"
  end
end
