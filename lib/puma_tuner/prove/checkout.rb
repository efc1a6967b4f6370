# frozen_string_literal: true

require "fileutils"
require "open3"

module PumaTuner
  module Prove
    # A commit of the app's repository in a folder of its own, with the repository's objects, which stays as it is.
    #
    # It is no clone: git does not clone a shallow repository by its files, and a clone has no commit that no branch
    # leads to. Both are what CI has: of a pull request, the last commits and no branch.
    class Checkout
      # What git ignores for good reason, and no app needs to boot.
      MADE_ANEW = %r{\A(log|tmp|coverage)/|\.log\z}

      # Only so many, of at most so many bytes, are told: keys and configurations are few and small.
      IGNORED_MOST_COUNT = 5
      IGNORED_MOST_BYTES = 100_000

      # @return [String] the commit's whole name
      attr_reader :commit

      # @return [String] the folder of the checkout
      attr_reader :root

      # @param app [String] folder of the app, somewhere in its repository
      # @param ref [String] a commit, branch or tag
      # @param into [String] folder for checkouts, gone when the proof is over
      # @param say [#call] told what takes long
      # @raise [UsageError] when there is no such commit here
      def initialize(app, ref, into:, say: ->(_) {})
        @app = app
        @ref = ref
        @say = say
        @repository = git("rev-parse", "--show-toplevel", at: app)
        @commit = find
        @root = File.join(into, @commit[0, 12])
      end

      # @return [String] the app's folder in the checkout
      def directory = File.join(@root, File.realpath(@app).delete_prefix(File.realpath(@repository)))

      # What is there already is taken.
      #
      # @param copied [Array<String>] files of the app, by their paths in its folder, that git ignores and it is given
      # @return [void]
      # @raise [UsageError] when it can't be had
      def make(copied: [])
        check_out unless File.directory?(@root)
        raise UsageError, "git=#{@ref}: #{@app} does not exist at that commit" unless File.directory?(directory)
        copied.each { |path| copy(path) }
      end

      # A checkout has none of them: Rails' config/master.key, .env, a database.yml of one's own.
      #
      # @return [Array<String>] paths of the app's files that git ignores and the checkout lacks
      def ignored
        git("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", at: @app)
          .lines(chomp: true).reject { |path| path.end_with?("/") || path.match?(MADE_ANEW) }
          .select { |path| lacks?(path) }.first(IGNORED_MOST_COUNT)
      rescue UsageError
        [] # it is told where a server fails, and nothing fails for want of it
      end

      private

      def find
        name, status = run("rev-parse", "--verify", "--quiet", "#{@ref}^{commit}", at: @repository)
        return name.strip if status.success?
        shallow = git("rev-parse", "--is-shallow-repository", at: @repository) == "true"
        raise UsageError, "git=#{@ref}: there is no such commit in #{@repository}" \
          "#{", which is a shallow clone" if shallow}. #{remedy(shallow)}"
      end

      # @return [String] what the user has to do
      def remedy(shallow)
        case @ref
        when %r{\A(?:refs/remotes/)?origin/([\w./-]+)\z}
          "Fetch it before: git fetch #{"--depth=1 " if shallow}origin #{$1}:refs/remotes/origin/#{$1}"
        when /\A\h{7,40}\z/ then "Fetch it before: git fetch #{"--depth=1 " if shallow}origin #{@ref}"
        else
          shallow ? "Fetch what came before: git fetch --unshallow, or in GitHub Actions `fetch-depth: 0`" :
            "A variant's git= names a commit, branch or tag."
        end
      end

      # The name appears last, so that what was interrupted is not taken for a whole one.
      def check_out
        @say.call("checking out #{@ref}")
        half = "#{@root}.half"
        FileUtils.rm_rf(half)
        git("init", "--quiet", half, at: @repository)
        File.write(File.join(half, ".git/objects/info/alternates"), "#{own("objects")}\n")
        FileUtils.cp(own("shallow"), File.join(half, ".git/shallow")) if File.file?(own("shallow"))
        git("checkout", "--quiet", "--detach", @commit, at: half)
        File.rename(half, @root)
      end

      # @return [String] path of what is git's own, also where the user's folder is a worktree or a submodule
      def own(name) = File.expand_path(git("rev-parse", "--git-path", name, at: @repository), @repository)

      def copy(path)
        app = "#{File.expand_path(@app)}/"
        from = Host::UserPath.expand("--copy #{path}", path, app)
        unless File.file?(from) && from.start_with?(app)
          raise UsageError, "--copy #{path}: there is no such file in #{@app}"
        end
        within = from.delete_prefix(app)
        unless git("ls-files", "--", within, at: directory).empty?
          raise UsageError, "--copy #{path}: git=#{@ref} has that file, which is not replaced"
        end
        to = File.join(directory, within)
        FileUtils.mkdir_p(File.dirname(to))
        FileUtils.cp(from, to, preserve: true)
      end

      def lacks?(path)
        size = File.size?(File.join(@app, path))
        size && size <= IGNORED_MOST_BYTES && !File.exist?(File.join(directory, path))
      end

      def git(*words, at:)
        output, status = run(*words, at:)
        return output.strip if status.success?
        raise UsageError, "git=#{@ref}: git #{words.first} failed in #{at}: #{output.lines.first&.strip}"
      end

      # Hooks of git set variables that name its repository.
      def run(*words, at:)
        Open3.capture2e({"GIT_DIR" => nil, "GIT_WORK_TREE" => nil, "GIT_INDEX_FILE" => nil}, "git", "-C", at, *words)
      rescue Errno::ENOENT
        raise UsageError, "git=#{@ref} needs git, which is not installed"
      end
    end
  end
end
