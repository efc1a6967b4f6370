# frozen_string_literal: true

require "open3"
require "support/locked_gems"

# Runs the command as a user does.
module CommandLine
  EXECUTABLE = File.expand_path("../../exe/puma_tuner", __dir__)

  Result = Data.define(:out, :err, :code) do
    # Where the output's lines break depends on how wide the figures in them are.
    #
    # @return [String] the output with each run of blanks and line breaks as one blank
    def unwrapped = out.gsub(/\s+/, " ")
  end

  # @param words [Array<String>] after `puma_tuner`
  # @param folder [String] where the user stands
  def puma_tuner(*words, folder: Dir.pwd, environment: {})
    out, err, status = Open3.capture3(LockedGems.environment.merge(environment), RbConfig.ruby, EXECUTABLE, *words, chdir: folder)
    Result.new(out:, err:, code: status.exitstatus)
  end

  # What a command that starts nothing loads is below these.
  LOADED = %i[CLI Model Predict Advise Report].freeze

  # Loads it, once in a process: else each fork would.
  def self.load_commands
    name_of = Module.instance_method(:name) # a few have a method of that name for something else
    @loaded ||= LOADED.map { |name| PumaTuner.const_get(name) }.tap do |seen|
      seen.each do |namespace|
        constants = namespace.constants(false).map { |name| namespace.const_get(name, false) }.grep(Module).reject { |one| one.is_a?(Class) }
        seen.concat(constants.select { |one| name_of.bind_call(one).to_s.start_with?("PumaTuner::") } - seen)
      end
    end
  end

  # The same in a fork of this process, which has loaded what the command's own would load again: for dozens of commands that start no server.
  # That each command is found and loaded by its own process is seen by its help (cli/commands_test.rb), and wherever puma_tuner is called.
  #
  # @return [Result]
  def puma_tuner_in_fork(*words, folder: Dir.pwd, environment: {})
    CommandLine.load_commands
    readers, writers = Array.new(2) { IO.pipe }.transpose
    pid = fork do
      $VERBOSE = false # as the command has it
      Encoding.default_external = Encoding::UTF_8
      [$stdout, $stderr].zip(writers) { |stream, writer| stream.reopen(writer) }
      ENV.update(environment)
      ARGV.replace(words.map { |word| word.dup.force_encoding(Encoding::UTF_8) })
      code = Dir.chdir(folder) { PumaTuner::CLI.call(ARGV) }
      $stdout.flush
      exit!(code)
    end
    writers.each(&:close)
    out, err = readers.map { |reader| Thread.new { reader.read.force_encoding(Encoding::UTF_8) } }.map(&:value)
    Result.new(out:, err:, code: Process.wait2(pid).last.exitstatus)
  ensure
    [*readers, *writers].each(&:close)
  end

  # The same as puma_tuner, and does not wait for it.
  #
  # @param options [Hash] of Process.spawn
  # @return [Integer] its process id
  def start_puma_tuner(*words, environment: {}, **options) = Process.spawn(LockedGems.environment.merge(environment), RbConfig.ruby, EXECUTABLE, *words, **options)

  # What was asked for was right, and could not be measured.
  def assert_failed(pattern, result) = assert_mistake(pattern, result, code: 3)

  # One message for a person: what is wrong and what to do, no backtrace.
  def assert_mistake(pattern, result, code: 2)
    assert_match pattern, result.err
    assert_equal code, result.code, result.err
    refute_match(/^\tfrom |^\S+\.rb:\d+:in/, result.err)
  end

  # @return [Array<Integer>] processes whose working folder is the folder
  def processes_in(folder)
    Dir["/proc/[0-9]*/cwd"].select { |path| working_folder(path) == File.realpath(folder) }.map { |path| path[/\d+/].to_i }
  end

  private

  def working_folder(link)
    File.readlink(link)
  rescue SystemCallError
    nil # it has ended
  end
end
