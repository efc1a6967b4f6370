# frozen_string_literal: true

require "open3"

# Runs the command as a user does.
module CommandLine
  EXECUTABLE = File.expand_path("../../exe/puma_tuner", __dir__)

  Result = Data.define(:out, :err, :code)

  # A machine with much else to do ends a proof without a verdict, as it should; then it is run again, or goes on, so often.
  DISTURBED = /rounds in a row were void; the last because.* (Little's law does not hold|the machine is too busy|of the machine|waited for a core)/
  ATTEMPTS_COUNT = 5

  # @param words [Array<String>] after `puma_tuner`
  # @param folder [String] where the user stands
  # @return [Result] of the last attempt, be it disturbed or not
  def puma_tuner(*words, folder: Dir.pwd, environment: {})
    ATTEMPTS_COUNT.times do |attempt|
      out, err, status = Open3.capture3(environment, RbConfig.ruby, EXECUTABLE, *words, chdir: folder)
      return Result.new(out:, err:, code: status.exitstatus) unless err.match?(DISTURBED) && attempt < ATTEMPTS_COUNT - 1
      words |= ["--resume"] if err.include?("finished rounds are kept in")
    end
  end

  # One message for a person: what is wrong and what to do, no backtrace.
  def assert_mistake(pattern, result)
    assert_match pattern, result.err
    assert_equal 2, result.code, result.err
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
