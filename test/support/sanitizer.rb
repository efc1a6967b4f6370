# frozen_string_literal: true

require "digest"
require "fileutils"
require "rbconfig"
require "tmpdir"

# Runs a script, or test files, in a copy of this checkout whose extensions are compiled with a sanitizer of GCC's; or a script under
# Valgrind. Ruby itself is as it is: what a sanitizer must replace in it (malloc, locks) is preloaded.
#
# - address: each access to memory that is not ours any more, or never was; and what C leaves undefined (UBSan). Not the leaks, as Ruby
#   frees nothing at its end. Functions through which Ruby jumps (an exception, a thread's end) never return, so that their frames would
#   stay poisoned for whoever comes next: of these files, the stack is not watched.
# - thread: two accesses of ours, on two threads, with nothing between them that orders them. All that orders threads in Ruby are locks
#   of the system's, the GVL as well, which the preloaded library sees. So a race is told in the place where it would happen.
class Sanitizer
  PROJECT = File.expand_path("../..", __dir__)

  # By what they are compiled from, so that a fresh clone has them, too.
  CACHE = File.join(ENV.fetch("PUMA_TUNER_CACHE") { File.expand_path("~/.cache/puma_tuner") }, "sanitize")

  # Other checkouts may have other sources: what is older than this goes when something is compiled.
  KEPT_S = 30 * 86_400

  # Where the sources are, and where Ruby looks for what is made of them.
  EXTENSIONS = {
    "puma_tuner_probe" => %w[probe/ext probe/lib/puma_tuner/probe/native], "puma_tuner_load" => %w[ext lib/puma_tuner/native],
    "puma_tuner_sim" => %w[ext lib/puma_tuner/native]
  }.freeze

  EXERCISES = %w[probe/test/native/exercise.rb test/native/exercise.rb].freeze

  # Their last line, when they came to their end.
  ENDS = /\A(unobserved threads|answered and simulated): true\n\z/

  TIME_LIMIT_S = 1_200

  # Tests that can't be under ThreadSanitizer: three that tell microseconds apart, as each switch of threads takes longer there; one that
  # starts a database, which does not with the library preloaded; one of Ractors, which by themselves hang nearly always there; and one
  # that asks for the memory of a process, as the library has memory of its own beside all of it.
  NOT_FOR_THREAD = "/each_other_s_slices|held_the_GVL_is_blamed|server_that_stands_still|gem_trilogy|two_Ractors|take_no_memory/"

  # Ruby jumps over frames of these.
  JUMPED_OVER = %w[bindings.o lock_methods.o].freeze

  # @param name [String]
  # @param flags [String] of the compiler's
  # @param runtime [String] what is preloaded
  # @param options [Hash{String => String}] environment variable to the options in it, but for where reports go
  # @param names_ours [Boolean] whether only reports count that name an extension of ours
  def initialize(name, flags:, runtime:, options:, makefile: "", names_ours: false)
    @name, @flags, @runtime, @options, @makefile, @names_ours = name, flags, runtime, options, makefile, names_ours
  end

  ADDRESS = new("address", flags: "-O1 -fsanitize=address,undefined -fno-omit-frame-pointer", runtime: "libasan.so",
    makefile: "#{JUMPED_OVER.join(" ")}: CFLAGS += --param asan-stack=0\n",
    # Ruby brings the stack that its signal handlers run on itself.
    options: {"ASAN_OPTIONS" => "detect_leaks=0:use_sigaltstack=0", "UBSAN_OPTIONS" => "halt_on_error=1:print_stacktrace=1"})

  # Deadlocks are not looked for, as Ruby takes two locks of its own in either order where Ractors are.
  THREAD = new("thread", flags: "-O1 -fsanitize=thread -fno-omit-frame-pointer", runtime: "libtsan.so", names_ours: true,
    options: {"TSAN_OPTIONS" => "die_after_fork=0:detect_deadlocks=0:exitcode=0"})

  # @param script [String] of EXERCISES
  # @return [String] what was found; "" when it came to its end and nothing was
  def exercise(script)
    in_copy { |folder| Sanitizer.found(*run(folder, script)) }
  end

  # @param files [Array<String>] of tests
  # @param except [String, nil] a pattern of tests that are left out
  # @return [String] what was found, and what failed; "" for nothing
  def tests(files, except: nil)
    words = ["-w", "-Ilib", "-Iprobe/lib", "-Itest", "-I.", "-e", 'ARGV.grep(/_test\.rb\z/) { |file| require File.expand_path(file) }', *files]
    in_copy do |folder|
      out, status = run(folder, *words, *(["--exclude", except] if except))
      (status.success? && out.match?(/^\d+ runs, .* 0 failures, 0 errors/)) ? "" : "#{status}\n#{out}"
    end
  end

  private

  # What the block returns, and after it the reports.
  def in_copy
    Dir.mktmpdir("puma_tuner-sanitize") do |folder|
      copy_to(folder)
      found = yield folder
      [found, *reports(folder)].join
    end
  end

  # What git knows, or would; and which gems were chosen.
  def copy_to(folder)
    files = IO.popen(%w[git ls-files -z --cached --others --exclude-standard], chdir: PROJECT, &:read).split("\0")
    there = [*files, *Dir["{Gemfile,gemfiles/*}.lock", base: PROJECT]].uniq.select { |file| File.file?(File.join(PROJECT, file)) }
    # Thousands of files: Ruby takes a second for them.
    command!(PROJECT, "cp", "--parents", "--target-directory", folder, "--", *there)
    EXTENSIONS.each do |extension, (sources, target)|
      target = File.join(folder, target, RUBY_VERSION[/\A\d+\.\d+/])
      FileUtils.mkdir_p(target)
      FileUtils.cp(compiled(extension, sources), File.join(target, "#{extension}.so"))
    end
  end

  # @return [String] the extension's path, compiled if that was not done yet for these sources
  def compiled(extension, sources)
    files = Dir[File.join(PROJECT, sources, "{#{extension},shared}/*.{c,h,rb}")].sort
    made_of = [RUBY_DESCRIPTION, runtime_path, @flags, @makefile, *files.map { |file| File.read(file) }]
    digest = Digest::SHA256.hexdigest(made_of.join)[0, 16]
    built = File.join(CACHE, @name, "#{extension}-#{digest}.so")
    compile(extension, File.join(PROJECT, sources, extension, "extconf.rb"), built) unless File.exist?(built)
    built
  end

  def compile(extension, extconf, target)
    Dir.mktmpdir("puma_tuner-sanitize") do |folder|
      command!(folder, RbConfig.ruby, extconf)
      File.write(File.join(folder, "Makefile"), "\n#{@makefile}", mode: "a")
      command!(folder, "make", "-j", "debugflags=-g3 #{@flags}", "dldflags=#{@flags}")
      FileUtils.mkdir_p(File.dirname(target))
      FileUtils.rm_f(Dir[File.join(File.dirname(target), "#{extension}-*")].select { |path| Time.now - File.mtime(path) > KEPT_S })
      partial = "#{target}.#{Process.pid}"
      FileUtils.cp(File.join(folder, "#{extension}.so"), partial)
      File.rename(partial, target)
    end
  end

  def command!(folder, *words)
    out, status = Sanitizer.output_of({}, *words, chdir: folder)
    raise "#{words.join(" ")} failed:\n#{out}" unless status.success?
  end

  # @return [Array(String, Process::Status)]
  def run(folder, *words)
    FileUtils.mkdir(File.join(folder, "reports"))
    environment, ruby = Sanitizer.ruby(folder, words.first)
    options = @options.transform_values { |value| "#{value}:log_path=#{folder}/reports/report" }
    Sanitizer.output_of({**environment, **options, "LD_PRELOAD" => runtime_path}, *same_addresses, *ruby, *words, chdir: folder)
  end

  def runtime_path
    path = IO.popen([*RbConfig::CONFIG["CC"].split, "-print-file-name=#{@runtime}"], &:read).chomp
    raise "the compiler has no #{@runtime}; Debian's GCC comes with it" unless File.exist?(path)
    path
  end

  # A kernel that scatters addresses widely leaves the sanitizers of older compilers no room.
  def same_addresses
    command = %w[setarch --addr-no-randomize]
    system(*command, "true", err: File::NULL) ? command : []
  end

  # A child's last words count as well, whoever read its standard error.
  def reports(folder)
    texts = Dir[File.join(folder, "reports/*")].map { |path| File.read(path).scrub }
    texts.flat_map { |text| text.split(/^(?==+\n)/) }.grep(/SUMMARY|runtime error|CHECK failed/).grep(@names_ours ? /puma_tuner_(probe|load|sim)\.so/ : //)
  end

  class << self
    # Ruby's conservative collector reads what nobody wrote on the stack, on purpose; all else must be clean.
    VALGRIND = %w[valgrind --error-limit=no --undef-value-errors=no --max-threads=3000 --num-callers=12 --error-exitcode=9].freeze

    # @return [String] as of exercise
    def valgrind(script)
      environment, ruby = ruby(PROJECT, script)
      out, status = output_of(environment, *VALGRIND, *ruby, script, chdir: PROJECT)
      watched = out.match?(/^==\d+== ERROR SUMMARY: 0 errors/)
      watched ? found(out.lines.grep_v(/^==\d+==/).join, status) : "#{status}\n#{out}"
    end

    # With garbage collected, and all that can be moved, at each allocation.
    # @return [String] as of exercise
    def stress(script)
      environment, ruby = ruby(PROJECT, script)
      found(*output_of({**environment, "STRESS" => "1"}, *ruby, script, chdir: PROJECT))
    end

    # With the gems of a checkout; the probe is without any, as each would take its time at every collection.
    # @return [Array(Hash, Array<String>)] environment, and the command
    def ruby(folder, script = nil)
      gems = (script == EXERCISES.first) ? "--disable-gems" : "-rbundler/setup"
      [{"RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => File.join(folder, "Gemfile")}, [RbConfig.ruby, gems]]
    end

    # @return [String] "", or what it said
    def found(out, status) = (status.success? && out.match?(ENDS)) ? "" : "#{status}\n#{out}"

    # @return [Array(String, Process::Status)] of a command that is ended after a time, and with it all that it has started
    def output_of(environment, *words, chdir:)
      reader, writer = IO.pipe
      pid = Process.spawn(environment, *words, :chdir => chdir, :pgroup => true, :in => File::NULL, %i[out err] => writer)
      writer.close
      reading, ending = Thread.new { reader.read }, Process.detach(pid)
      ending.join(TIME_LIMIT_S)
      end_group(pid)
      [reading.value.scrub, ending.value]
    ensure
      end_group(pid) if pid
      reader.close
    end

    private

    def end_group(pid)
      Process.kill(:KILL, -pid)
    rescue Errno::ESRCH
      nil # all of it has ended
    end
  end
end
