# frozen_string_literal: true

require "open3"

# The subjects of the project's commits, which a list of them shows whole.
module CommitSubjects
  COLUMNS_MAX = 72

  # The last commit whose subject is longer: the rule is younger than it.
  SINCE = "75911e2d746604f779166526ad438d7933433156"

  module_function

  # @param folder [String] a repository
  # @param since [String] a commit; those after it are looked at, without merges
  # @return [Array<String>, nil] a line for each that is too long; nil where the commit is not there, as in a shallow clone
  def too_long(folder, since: SINCE)
    listed, status = Open3.capture2("git", "-C", folder, "log", "--no-merges", "--format=%h %s", "#{since}..HEAD", err: File::NULL)
    return unless status.success?
    listed.lines(chomp: true).filter_map do |line|
      hash, subject = line.split(" ", 2)
      "#{hash}: #{subject.length} characters: #{subject}" if subject.to_s.length > COLUMNS_MAX
    end
  end
end
