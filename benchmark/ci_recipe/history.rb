# frozen_string_literal: true

require "open3"

module CiRecipe
  # What a CI is asked to judge. kind: what it is told as; base, head: names that git knows
  PullRequest = Data.define(:kind, :base, :head)

  # This project's own history, as a repository whose pull requests are its commits: each stands against its first parent. The app is the demo's,
  # labs/05-threads-against-io, so a commit that leaves its Ruby files alone, and the Gemfile, must not be called a regression; and one that
  # has the app compute more on top of that must be.
  class History
    APP = "labs/05-threads-against-io"
    SERVED = %W[:(glob)#{APP}/**/*.rb :(glob)#{APP}/*.ru Gemfile].freeze

    # Three bursts and three waits in turn, all of whose bursts are this method's.
    PATH = "/realistic"
    METHOD_FILE = "#{APP}/work.rb"
    STEPS = "(units * STEPS_PER_UNIT).times"
    PARTS = 10_000

    HARMLESS = "harmless"
    REGRESSION = "regression"

    # @param folder [String] where the copy is made
    # @param count [Integer] of commits, spread evenly over the history
    # @param project [String] a checkout
    # @param commit [String] where the history ends
    # @raise [PumaTuner::UsageError] where the checkout has no history, or not enough of it
    def initialize(folder, count:, project: Bench::PROJECT, commit: "HEAD")
      @project = project
      ensure_whole
      @repository = folder
      end_commit = git(project, "rev-parse", "--verify", "#{commit}^{commit}")
      git(project, "clone", "--quiet", "--no-checkout", project, folder)
      @commits = spread(harmless_commits(end_commit), count)
      git(folder, "checkout", "--quiet", "--detach", end_commit)
    end

    # @return [String] the app's folder, in the copy
    def folder = File.join(@repository, APP)

    # @return [Array<PullRequest>] commits that leave what is served as it is
    def harmless = @commits.map { |commit| PullRequest.new(kind: HARMLESS, base: "#{commit}^1", head: commit) }

    # @param more_ratio [Float] of the app's steps that are made once more; to be 0.0001 at least
    # @return [Array<PullRequest>] the same commits, each with another on top, which has the app take so many more steps
    def planted(more_ratio)
      parts = PARTS + (more_ratio * PARTS).ceil
      harmless.map { |one| one.with(kind: REGRESSION, head: plant(one.head, "(units * STEPS_PER_UNIT * #{parts} / #{PARTS}).times")) }
    end

    private

    def ensure_whole
      return unless git(@project, "rev-parse", "--is-shallow-repository") == "true"
      raise PumaTuner::UsageError, "ci_recipe proves commits of this project's history, and this is a shallow clone. Fetch the rest before: git fetch --unshallow, or in GitHub Actions `fetch-depth: 0`"
    end

    # Since the app computes as it does now: the method's file is the same in all of them.
    def harmless_commits(end_commit)
      since = git(@project, "rev-list", "--first-parent", "-1", end_commit, "--", METHOD_FILE)
      raise PumaTuner::UsageError, "no commit here has #{METHOD_FILE}" if since.empty?
      git(@project, "rev-list", "--first-parent", "#{since}..#{end_commit}").lines(chomp: true) -
        git(@project, "rev-list", "--first-parent", "#{since}..#{end_commit}", "--", *SERVED).lines(chomp: true)
    end

    def spread(commits, count)
      return Array.new(count) { |place| commits[place * commits.size / count] } if commits.size >= count
      raise PumaTuner::UsageError, "the history has #{commits.size} commits that leave #{APP} alone, and #{count} are needed"
    end

    def plant(commit, steps)
      git(@repository, "checkout", "--quiet", "--detach", commit)
      file = File.join(@repository, METHOD_FILE)
      before = File.read(file)
      raise PumaTuner::UsageError, "#{METHOD_FILE} at #{commit} has no #{STEPS}" unless before.include?(STEPS)
      File.write(file, before.sub(STEPS) { steps })
      git(@repository, "-c", "user.name=An author", "-c", "user.email=author@example.org", "commit", "--quiet", "--all", "--no-verify", "--message", "More work")
      git(@repository, "rev-parse", "HEAD")
    end

    def git(folder, *words)
      output, status = Open3.capture2e("git", "-C", folder, *words)
      status.success? ? output.strip : raise(PumaTuner::UsageError, "git #{words.first} failed in #{folder}: #{output.lines.first.to_s.strip}")
    end
  end
end
