# frozen_string_literal: true

require "digest"
require "open3"
require "shellwords"
require "time"

module PumaTuner
  module CLI
    # Shows advice as a diff of the app's files on standard output, as `git apply` takes it, and writes them when asked.
    # What else there is to say goes to standard error.
    class Patching
      class << self
        # @param observation [Probe::Observation]
        # @param folder [String] of the app
        # @return [String] path in it of the puma.rb that the recorded server reads: by its option, or the first of the
        #   two that Puma looks for; of several by options, the last
        def config(observation, folder)
          given = named(observation)&.delete_prefix("./")&.delete_prefix("#{folder}/")
          of_environment = "config/puma/#{observation.server&.rack_environment}.rb"
          usual = (given.nil? || given.start_with?("/")) ? [of_environment] : []
          [*below(given), *usual].find { |path| File.file?(File.join(folder, path)) } ||
            (usual.any? ? Advise::Rule::PUMA_RB : given)
        end

        # @param observation [Probe::Observation]
        # @return [String, nil] what its command names; nil where that is none. Puma loads all that are named, one after
        #   the other, so that the last one's settings hold.
        def named(observation)
          words = Shellwords.split(observation.command.to_s)
          given = [*words, nil].each_cons(2).filter_map do |word, following|
            file = word[/\A(?:-C|--config(?:=|\z))(.*)/m, 1]
            (file.empty? ? following : file) if file
          end
          given.last unless given.last&.start_with?("-")
        rescue ArgumentError
          nil
        end

        # @param observation [Probe::Observation]
        # @return [String, nil] what in its command keeps Puma from reading a configuration, also one that it would find
        def no_config(observation)
          observation.command.to_s[/(?<=\s)(?:--no-config|-C ?-|--config[ =]-)(?=\s|\z)/]
        end

        # @param folder [String] of the app
        # @param path [String] in it
        # @return [String, nil] what stands there; nil where there is no such file
        # @raise [UsageError] where it can't be read
        def read(folder, path)
          AtomicFile.read(File.join(folder, path))
        rescue Errno::ENOENT, Errno::ENOTDIR
          nil
        rescue SystemCallError => error
          raise UsageError, "cannot read #{path}: #{error.message}. What is advised for it can't be set without it: " \
            "make it a file that may be read."
        end

        private

        # Where the app lies in another folder, as in a container or in a release, or is one of several that one command
        # starts from above, it is the same file below it. A name alone, such as app.rb, may be any of the app's files.
        def below(path)
          parts = path.to_s.split("/").reject(&:empty?)
          parts.each_index.map { |index| parts.drop(index).join("/") }
            .select { |found| found == path || found.match?(%r{/|puma}) }
        end
      end

      # @param advice [Array<Advise::Advice>]
      # @param observation [Probe::Observation] that it is about
      # @param folder [String] of the app
      # @param kept [String] folder where the diff of what is written is kept
      # @raise [UsageError] where no app is there
      def initialize(advice, observation:, folder:, kept:, out:, err:)
        @folder = folder
        @observation = observation
        @kept = kept
        @out = out
        @err = err
        ensure_app
        @advice = advice
        no_config = Patching.no_config(observation)
        @patch = Advise::Patch.new(advice, observation:, config:, no_config:) { |path| read(path) }
      end

      # @return [void]
      def show
        @out.print(diff)
        tell_other_config
        say(nothing) if @patch.changes.empty?
        tell_elsewhere
        @patch.notes.each { |note| say(Report::PatchWords.of(note)) }
      end

      # Shows what it writes before.
      #
      # @return [void]
      # @raise [UsageError] when a file is another than what the advice is about, or can't be written
      def write
        show
        return if @patch.changes.empty?
        @patch.changes.each { |change| ensure_unchanged(change) }
        undo = undo()
        @patch.changes.each { |change| write_file(change) }
        if @advice.count { |one| one.lines.any? } > 1
          say("each effect is predicted for its own change, none for all of them together")
        end
        say("written: #{paths.map { |path| File.join(@folder, path) }.join(", ")}; restart the server, or " \
          "deploy it. To undo it: #{undo}")
      end

      private

      def say(text) = @err.puts("puma_tuner: #{text}")

      def paths = @patch.changes.map(&:path)

      def diff
        @patch.changes.map { |change| Report::UnifiedDiff.new(change.path, change.before, change.after).to_s }.join
      end

      def ensure_app
        return if ["config.ru", config].any? { |path| File.file?(File.join(@folder, path)) }
        raise UsageError, "there is neither a config.ru nor a #{config} in #{@folder}: name the app's folder with " \
          "--directory"
      end

      def config = @config ||= Patching.config(@observation, @folder)

      def tell_other_config
        named = Patching.named(@observation)
        return if named.nil? || named.end_with?(config) || !paths.include?(config)
        say("the recorded server reads #{named}, which does not lie in #{@folder}: what is for #{config} belongs there")
      end

      def read(path) = Patching.read(@folder, path)

      # Notes on what is changed, and not on what is not.
      BESIDE = %i[variable_first hooks_of_workers].freeze
      private_constant :BESIDE

      def nothing
        if @advice.all? { |one| one.lines.empty? }
          return "there is nothing to write: no advice has lines for the app's files"
        end
        in_the_way = @patch.notes.any? { |note| !BESIDE.include?(note.kind) } || @patch.by_hand.any?
        in_the_way ? "nothing is written" : "nothing is left to write: the files have all that is advised"
      end

      # Where the server's variables are set is not for this program to guess; what it sees is named.
      DEPLOYED_BY = %w[Procfile Dockerfile config/deploy.yml .env fly.toml render.yaml app.json
        docker-compose.yml].freeze

      def tell_elsewhere
        if @patch.environment.any?
          seen = DEPLOYED_BY.select { |path| File.file?(File.join(@folder, path)) }
          say("set in the server's environment before it starts, and not in #{config}, which Ruby reads too late" \
            "#{" (here are #{seen.join(", ")})" if seen.any?}:")
          @patch.environment.each_value { |line| @err.puts("  #{line}") }
        end
        @patch.by_hand.each do |place, lines|
          say("for you to set: #{place}:")
          lines.each { |line| @err.puts("  #{line}") }
        end
      end

      # The settings that were recorded are not those of a file that is younger, unless it is as we have left it.
      def ensure_unchanged(change)
        path = File.join(@folder, change.path)
        if read(change.path) != change.before
          raise UsageError, "#{change.path} was changed meanwhile, by somebody else: nothing is written. Try again"
        end
        unless change.before.nil? || File.writable?(path)
          raise UsageError, "#{change.path} must not be written to: nothing is written. Change that, or take the diff"
        end
        return if change.before.nil? || ours?(change)
        changed_at, recorded_at = File.mtime(path), Time.parse(@observation.started_at)
        return if changed_at <= recorded_at
        raise UsageError, "#{change.path} was changed (#{changed_at.utc.iso8601}) after the recording that the " \
          "advice is about (#{@observation.started_at}): nothing is written. Measure again, or take from the diff " \
          "what you want"
      end

      # @return [Boolean] whether we wrote what is there
      def ours?(change)
        wanted = mark(change.path, change.before)
        Dir[File.join(@kept, "advice-*.patch")].any? { |path| File.read(path).include?(wanted) }
      end

      def mark(path, content) = "# written: #{path} #{Digest::SHA256.hexdigest(content)}\n"

      def write_file(change)
        path = File.join(@folder, change.path)
        Output.make_folder(path)
        path = File.realpath(path) if File.symlink?(path)
        mode = File.stat(path).mode if File.file?(path)
        AtomicFile.write(path, change.after)
        File.chmod(mode, path) if mode
      rescue SystemCallError => error
        raise UsageError, "cannot write #{change.path}: #{error.message}. Take the diff above, and write it by hand"
      end

      # @return [String] the command that undoes it: git's where it knows all files as they are, else with the diff
      def undo
        path = keep
        folder = Shellwords.escape(@folder)
        in_git = @patch.changes.all? { |change| in_git?(change) }
        return "git -C #{folder} checkout -- #{Shellwords.join(paths)}" if in_git
        "patch -R -p1 -d #{folder} < #{Shellwords.escape(path)}"
      end

      # Kept in any case, as it also tells the next run what we wrote.
      def keep
        path = File.join(@kept, "advice-#{Time.now.utc.strftime("%Y%m%dT%H%M%SZ")}.patch")
        marks = @patch.changes.map { |change| mark(change.path, change.after) }
        Output.write_file(path, "#{marks.join}#{diff}")
        path
      end

      def in_git?(change)
        return false unless change.before
        tracked, status = Open3.capture2("git", "-C", @folder, "ls-files", "--", change.path, err: File::NULL)
        changed, = Open3.capture2("git", "-C", @folder, "status", "--porcelain", "--", change.path, err: File::NULL)
        status.success? && !tracked.empty? && changed.empty?
      rescue SystemCallError
        false # no git here
      end
    end
  end
end
