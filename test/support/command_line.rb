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

  # The same, and does not wait for it.
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
