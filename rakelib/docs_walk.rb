# frozen_string_literal: true

require "fileutils"
require "net/http"
require "socket"
require_relative "../test/support/doc_page"

# Goes the way of somebody who follows the documentation: runs what its pages show, in fresh folders and with a fresh
# home, and holds what is printed against what they show. Getting started comes first; the guides go on with the app
# that it has made.
class DocsWalk
  PLACE = File.join(DocPage::PROJECT, "tmp/docs_test")

  # A command of a page takes minutes, on a busy machine half an hour, and not for ever.
  LIMIT_S = 3_600

  RAILS_VERSION = "8.1.3"

  # Ports that pages name, which somebody else may use here.
  PORTS = /(?<![\d.])(9292|9394)\b/

  class Wrong < StandardError; end

  # @param names [Array<String>] of pages; empty: all
  # @param quick [Boolean] whether each `tune` and `prove` is given a minute, whatever the page gives it
  def initialize(names, quick: false)
    @quick = quick
    @pages = DocPage.walked.select { |page| names.empty? || names.any? { |name| page.name.include?(name) } }
    @report = []
    @unproven_count = 0
  end

  # @return [Boolean] whether all went as the pages say
  def call
    prepare
    @pages.each { |page| walk(page) }
    puts lines
    @report.none? { |line| line.start_with?("WRONG") }
  end

  # @return [Boolean] whether each proof came to something
  def proven? = @unproven_count.zero?

  # @return [Array<String>] of each page, and of all of them
  def lines = [*@report, DocsWalk.closing(@report, @unproven_count)]

  private

  # The gems that a user has, and ours as README has them installed.
  def prepare
    FileUtils.mkdir_p(PLACE)
    %w[home checkout].each { |name| FileUtils.rm_rf(File.join(PLACE, name)) }
    FileUtils.mkdir_p(File.join(PLACE, "home"))
    checkout = File.join(PLACE, "checkout")
    IO.popen(%w[git ls-files -z], chdir: DocPage::PROJECT, &:read).split("\0").select { |name| File.file?(File.join(DocPage::PROJECT, name)) }.each do |name|
      FileUtils.mkdir_p(File.dirname(File.join(checkout, name)))
      FileUtils.cp(File.join(DocPage::PROJECT, name), File.join(checkout, name))
    end
    shell = Shell.new(checkout, "set-up")
    shell.run("gem list --installed --version #{RAILS_VERSION} '^rails$' > /dev/null || gem install rails --version #{RAILS_VERSION} --no-document")
    readme = DocPage.new(File.join(DocPage::PROJECT, "README.md"))
    readme.blocks.select { |block| block.options.key?("checkout") }.each { |block| block.commands.each { |command, _| shell.run(command) } }
  end

  def walk(page)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    @unverified_count = 0
    shell = Shell.new(folder_of(page), page.name.tr("/.", "__"), state: (File.join(PLACE, "state_of_docs_getting_started_md") unless starts?(page)))
    page.blocks.each { |block| follow(block, shell, page) }
    minutes = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) / 60
    @unproven_count += shell.unproven_count
    @report << "fine   #{page.name}: #{minutes.round(1)} min#{DocsWalk.proofs(shell.early_count, shell.unproven_count)}" \
      "#{DocsWalk.left_out(shell.commands_count, @unverified_count)}"
  rescue Wrong => error
    @report << "WRONG  #{page.name}: #{error.message}"
  ensure
    shell&.close
  end

  def starts?(page) = page.name == "docs/getting_started.md"

  # @return [String] a folder of its own, with the app that getting started has made
  def folder_of(page)
    folder = File.join(PLACE, starts?(page) ? "getting_started" : page.name.tr("/.", "__"))
    FileUtils.rm_rf(folder)
    FileUtils.mkdir_p(folder)
    return folder if starts?(page)
    app = File.join(PLACE, "getting_started/shop")
    raise Wrong, "there is no app yet; walk docs/getting_started.md first" unless File.directory?(app)
    FileUtils.cp_r(app, folder)
    File.join(folder, "shop")
  end

  def follow(block, shell, page)
    return if block.options.key?("checkout") || block.options.key?("checked")
    shell.write(block.options["file"], block.text) if block.options["file"]
    shell.write(block.options["add"], block.text, add: true) if block.options["add"]
    verify_unit(shell, block) if block.language == "ini"
    return unless block.language == "console"
    block.commands.each do |command, shown|
      printed = shell.run(@quick ? DocsWalk.shortened(command) : command, shown)
      missing = DocsWalk.missing(shown, printed) or next
      raise Wrong, "line #{block.line}: `#{command}` does not print #{missing.inspect}, but\n#{printed}"
    end
  end

  def verify_unit(shell, block)
    return @unverified_count += 1 unless ENV["PATH"].split(":").any? { |folder| File.executable?("#{folder}/systemd-analyze") }
    shell.run("systemd-analyze verify #{block.options.fetch("file")}", of_page: false)
  end

  class << self
    # @return [String] what to know of a page's proofs; empty where all were made whole
    def proofs(early_count, unproven_count)
      parts = {"ended early" => early_count, "proved nothing" => unproven_count}.select { |_, count| count.positive? }
      parts.map { |what, count| ", #{count} #{(count == 1) ? "proof" : "proofs"} #{what}" }.join
    end

    # @param commands_count [Integer] of a page, that were run
    # @param unverified_count [Integer] units of systemd on it that could not be checked
    # @return [String] what to know of a page of which not all was tried; empty of others
    def left_out(commands_count, unverified_count)
      [(", no command of it was run" if commands_count.zero?),
        (", #{unverified_count} of systemd's units not checked without systemd-analyze" if unverified_count.positive?)].join
    end

    # A page whose proof had no round is followed as far as it goes, and no proof that its proof works.
    #
    # @param report [Array<String>] a line of each page
    # @param unproven_count [Integer] proofs of all pages that proved nothing
    # @return [String]
    def closing(report, unproven_count)
      wrong_count = report.count { |line| line.start_with?("WRONG") }
      text = "docs_test: #{report.size - wrong_count} of #{report.size} pages are fine"
      return "#{text}." if unproven_count.zero?
      "#{text}; of #{unproven_count} #{(unproven_count == 1) ? "proof" : "proofs"} nothing came, as the machine was too busy: run it again when it is not."
    end

    # @param lines [Array<String>] see {DocsWalk#lines}
    # @param made [String] with what
    # @return [String] a section of docs/measured/reliability.md
    def section(lines, made)
      *pages, closing = lines.map { |line| line.lines.first.strip }
      ["## Documentation: what its pages show, run as they show it",
        "Written by `rake docs_test`; not to be edited. To repeat it: `bin/exec rake docs_test WRITE=1`.",
        "Commands run in a fresh home, and what they print is held against what the pages show, where numbers may be others. " \
        "Of blocks that need more than the app (marked `checked`), commands are parsed only; " \
        "of a page that has no others that is told.",
        made, "**#{closing.sub("docs_test: ", "")}**", pages.map { |line| "- #{line.squeeze(" ")}\n" }.join].join("\n\n")
    end

    # @return [String] the same command, which takes a minute
    def shortened(command)
      return command unless command.match?(/\Apuma_tuner (tune|prove)\b/)
      command.sub(/ --time \w+/, "").sub(/\Apuma_tuner \w+/) { |words| "#{words} --time 1m" }
    end

    # Numbers may be others, and `…` stands for anything: within a line, or for lines that are left out.
    #
    # @param shown [Array<String>] lines of a page
    # @param printed [String]
    # @return [String, nil] the first line that is not printed, in this order
    def missing(shown, printed)
      left = printed.lines(chomp: true)
      shown.find do |line|
        next if ["…", "^C", ""].include?(line.strip)
        place = left.index { |other| other.match?(pattern(line)) }
        place ? (left = left.drop(place + 1)) && false : true
      end
    end

    private

    def pattern(line)
      parts = line.strip.split(/(\d[\d.,]*|\s+|…)/).map do |part|
        case part
        when /\A\d/ then "\\d[\\d.,]*"
        when /\A\s/ then "\\s+"
        when "…" then ".*"
        else Regexp.escape(part)
        end
      end
      /\A\s*#{parts.join}/
    end
  end

  # A user's shell, whose variables and folder stay from one command to the next.
  class Shell
    # On a busy machine a proof may end before its last round, or before its first, and says so.
    EARLY = /^puma_tuner: the proof ended early/
    NOTHING = /^puma_tuner: nothing is proven/

    # early_count: proofs that ended early; unproven_count: of which nothing came; commands_count: of the page, that
    #   were run
    attr_reader :state, :early_count, :unproven_count, :commands_count

    # @param state [String, nil] a file with the variables of another
    def initialize(folder, name, state: nil)
      @folder = folder
      @state = File.join(PLACE, "state_of_#{name}")
      @log = File.join(PLACE, "#{name}.log")
      @groups = []
      @early_count = @unproven_count = @commands_count = 0
      @ports = Hash.new { |ports, port| ports[port] = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1].to_s } }
      File.write(@state, state ? File.read(state).gsub(/^cd .*/, "") : "")
      File.write(@log, "")
    end

    # @param shown [Array<String>] `^C` in it: Ctrl-C is pressed once the server has answered
    # @param of_page [Boolean] false of what the page does not show, as a check of ours
    # @return [String] what it printed
    # @raise [Wrong] when it fails
    def run(command, shown = [], of_page: true)
      warn "$ #{command}"
      @commands_count += 1 if of_page
      command = command.gsub(PORTS) { |port| @ports[port] }
      from = File.size(@log)
      pid = spawn(environment, "bash", "-c", script(command), :chdir => @folder, :in => File::NULL, %i[out err] => [@log, "a"], :pgroup => true, :unsetenv_others => true)
      @groups << pid
      interrupt(pid) if shown.include?("^C")
      code = wait(pid, command)
      @groups.delete(pid) unless alive?(pid)
      printed = File.binread(@log)[from..].force_encoding("UTF-8").scrub
      early, nothing = [EARLY, NOTHING].map { |words| code == 3 && printed.match?(words) }
      nothing ? @unproven_count += 1 : (@early_count += 1 if early)
      # The next proof would ask whether to go on with what is left of this one.
      FileUtils.rm_f(Dir[File.join(@folder, "**/tmp/**/*.rounds")]) if early || nothing
      # 130: Ctrl-C.
      fine = code.zero? || early || nothing || (code == 130 && shown.include?("^C"))
      raise Wrong, "`#{command}` ends with #{code}:\n#{printed}" unless fine
      printed
    end

    def write(path, text, add: false)
      here = File.read(@state)[/^cd (.*)$/, 1] || @folder
      File.write(File.join(here, path), text, mode: add ? "a" : "w")
    end

    # Ends what still runs.
    def close
      @groups.each do |group|
        Process.kill(:TERM, -group)
      rescue Errno::ESRCH
        nil
      end
    end

    private

    # First as Ctrl-C does: what the command has started is in groups of its own, and is stopped by it alone.
    def stop(pid)
      %i[INT KILL].each do |name|
        Process.kill(name, -pid)
        break if (1..100).any? { Process.wait(pid, Process::WNOHANG) || (sleep(0.2) && false) }
      end
    end

    def environment
      home = File.join(PLACE, "home")
      gems = File.join(PLACE, "gems")
      author = %w[AUTHOR COMMITTER].flat_map { |role| [["GIT_#{role}_NAME", "A reader"], ["GIT_#{role}_EMAIL", "reader@example.com"]] }.to_h
      {"HOME" => home, "GEM_HOME" => gems, "PATH" => "#{gems}/bin:#{RbConfig::CONFIG["bindir"]}:/usr/local/bin:/usr/bin:/bin", "LANG" => "C.UTF-8",
       "PORT" => @ports["PORT"], "BUNDLE_SILENCE_ROOT_WARNING" => "1", **author}
    end

    def script(command)
      <<~BASH
        . #{@state}
        trap : INT
        #{command}
        code=$?
        { export -p | grep -vE ' (HOME|PATH|PORT|GEM_HOME|OLDPWD|PWD|SHLVL)='; echo "cd $PWD"; } > #{@state}
        exit $code
      BASH
    end

    def interrupt(pid)
      answers = 0
      300.times do
        sleep 0.5
        answers += 1 if answered?
        break if answers > 20
      end
      Process.kill(:INT, -pid)
      raise Wrong, "no server has answered before Ctrl-C" if answers.zero?
    end

    # @return [Boolean] whether it has left something behind that runs, as `&` does
    def alive?(group)
      Process.kill(0, -group)
      true
    rescue Errno::ESRCH
      false
    end

    def answered?
      Net::HTTP.get_response(URI("http://127.0.0.1:#{@ports["PORT"]}/articles")).is_a?(Net::HTTPOK)
    rescue SystemCallError, IOError, Timeout::Error, Net::HTTPBadResponse
      false
    end

    def wait(pid, command)
      (LIMIT_S * 5).times do
        _, status = Process.wait2(pid, Process::WNOHANG)
        return status.exitstatus || (128 + status.termsig) if status
        sleep 0.2
      end
      stop(pid)
      raise Wrong, "`#{command}` takes longer than #{LIMIT_S} s"
    end
  end
end
