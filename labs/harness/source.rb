# frozen_string_literal: true

require "fileutils"
require "open3"

module PumaTuner
  module Lab
    # A public repository of which a lab runs single commits: an author's own benchmark, or versions that no gem has.
    # Nothing of it is in this repository. `puma_tuner lab setup` fetches these commits, and nothing else does; where it
    # can't, as without a network, it says so, and the lab tells what it has not measured.
    #
    # A commit's name is the checksum of all that is in it, so what was fetched from anywhere is what was meant.
    #
    # name: of its folder; address: what git fetches from; commits: whole names
    # needed_for: what there is no figure of without it
    Source = Data.define(:name, :address, :commits, :needed_for) do
      # Asks nobody for a password, and gives up where nothing comes for half a minute.
      const_set(:ENVIRONMENT, {"GIT_TERMINAL_PROMPT" => "0", "GIT_HTTP_LOW_SPEED_LIMIT" => "100",
                               "GIT_HTTP_LOW_SPEED_TIME" => "30"}.freeze)

      # @param lab [Object]
      # @return [Array<Source>] what it needs
      def self.needed(lab, quick:) = lab.respond_to?(:sources) ? lab.sources(quick:) : []

      # @return [String] path of a repository that has these commits and checks out none
      def folder = File.join(Gems.root, "sources", name)

      # @return [String] path of the folder of its checkouts, each named by its commit's first twelve letters
      def checkouts = "#{folder}.at"

      # @param commit [String]
      # @return [String] path
      def checkout(commit) = File.join(checkouts, commit[0, 12])

      # @return [Boolean] whether every commit is checked out
      def there? = commits.all? { |commit| File.file?(ready(commit)) }

      # What is there is left alone.
      # @param say [#call] told what takes long
      # @return [String, nil] why it can't be had; nil when it is there
      def fetch(say: ->(_) {})
        FileUtils.mkdir_p(checkouts)
        File.open("#{folder}.lock", "w") do |lock|
          lock.flock(File::LOCK_EX)
          have(say) unless there?
        end
        nil
      rescue UsageError, SystemCallError => error
        error.message
      end

      private

      # Written last: a checkout without it was interrupted.
      def ready(commit) = "#{checkout(commit)}.ready"

      def have(say)
        say.call("fetching #{Units.counted(commits.size, "commit")} of #{address}")
        fetch_commits
        commits.each { |commit| check_out(commit) unless File.file?(ready(commit)) }
      end

      def fetch_commits
        git("init", "--quiet", folder, at: File.dirname(folder)) unless File.directory?(File.join(folder, ".git"))
        git("fetch", "--quiet", "--no-tags", "--depth=1", address, *commits)
      end

      def check_out(commit)
        FileUtils.rm_rf(checkout(commit))
        git("worktree", "prune")
        git("worktree", "add", "--quiet", "--detach", checkout(commit), commit)
        File.write(ready(commit), commit)
      end

      def git(*words, at: folder)
        environment = Commands.clean_environment.merge(self.class::ENVIRONMENT)
        output, status = Open3.capture2e(environment, "git", "-C", at, *words, unsetenv_others: true)
        return if status.success?
        raise UsageError, "git #{words.first}: #{output.lines.last&.strip || "failed"}"
      end
    end
  end
end
