# frozen_string_literal: true

require "open3"

module PumaTuner
  module Host
    # The environment that the user's shell has, for the app: its Ruby (of rbenv, asdf, mise or the system), its
    # GEM_HOME, its settings of Bundler. `bin/exec` and Bundler put others in their place for us.
    module UserEnvironment
      # bin/exec (bin/support/environment.sh) keeps under this what it changes.
      KEPT = "PUMA_TUNER_CALLER_"
      CHANGED = /\A(PATH\z|RUBYOPT\z|RUBYLIB\z|GEM_HOME\z|GEM_PATH\z|BUNDLE)/

      # Older ones don't tell whose wait for the GVL it is.
      OLDEST_RUBY = "3.3"

      # Programs in such a folder of the PATH (of rbenv, asdf, mise) start that of the Ruby which the folder names that
      # they are called in.
      SHIMS = %r{/shims/?\z}

      # In these files, of a folder or one above it, a Ruby is named.
      NAMING = %w[.ruby-version .tool-versions mise.toml .mise.toml].freeze

      module_function

      # @param directory [String] of the app, as version managers choose by folder
      # @return [Hash{String => String}]
      def of(directory)
        return before_shim(before_bundler, directory) if kept.empty?
        with_ruby(before_bundler.reject { |name, _| name.match?(CHANGED) || name.start_with?(KEPT) }
          .merge(kept), directory)
      end

      # @return [String, nil] BUNDLE_GEMFILE, as the user's shell has it
      def gemfile = (kept.empty? ? before_bundler : kept)["BUNDLE_GEMFILE"]

      # @return [Hash{String => String}] for an app that takes the gems this program runs with: the caller's flags for
      #   Ruby count all the same
      def of_ours
        flags = ENV["#{KEPT}RUBYOPT"] or return ENV.to_h
        ENV.to_h.merge("RUBYOPT" => [ENV["RUBYOPT"], flags].compact.join(" "))
      end

      # @param environment [Hash{String => String}]
      # @return [Array(String, String, String), nil] engine, version and path of the Ruby that it starts; nil where it
      #   starts none, as a version manager's when that version is not installed
      # @raise [Errno::ENOENT] when there is none
      def ruby(environment, directory)
        output, status = Open3.capture2(environment.except("RUBYOPT", "RUBYLIB"), "ruby", "--disable-gems",
          "-rrbconfig", "-e", "puts RUBY_ENGINE, RUBY_VERSION, RbConfig.ruby", chdir: directory, unsetenv_others: true,
          err: File::NULL)
        output.lines(chomp: true) if status.success?
      end

      def kept
        ENV.filter_map { |name, value| [name.delete_prefix(KEPT), value] if name.start_with?(KEPT) }.to_h
      end

      def before_bundler = defined?(Bundler) ? Bundler.original_env : ENV.to_h

      # The shim that has started us has put the Ruby of this folder before itself. An app in another folder that names
      # one is to have that.
      def before_shim(environment, directory)
        named = naming(File.expand_path(directory))
        return environment if named.nil? || named == naming(Dir.pwd) || asked_for?(environment)
        folders = environment["PATH"].to_s.split(":")
        before = folders.take_while { |folder| !folder.match?(SHIMS) }
        return environment if before == folders || !before.include?(RbConfig::CONFIG["bindir"])
        environment.except("RBENV_VERSION", "RBENV_DIR")
          .merge("PATH" => [*(before - [RbConfig::CONFIG["bindir"]]), *folders.drop(before.size)].join(":"))
      end

      # rbenv's shim tells its choice in RBENV_VERSION. One that is not what the files say here is the user's own, and
      # goes before any folder's, as it does in their shell.
      def asked_for?(environment)
        version, root = environment.values_at("RBENV_VERSION", "RBENV_ROOT")
        return false unless version && root
        folders = [environment["RBENV_DIR"], Dir.pwd].compact.flat_map { |folder| above(folder) }
        files = [*folders.map { |folder| File.join(folder, ".ruby-version") }, File.join(root, "version")]
        file = files.find { |path| File.file?(path) }
        named = file ? File.binread(file)[/^\s*(?:ruby-)?([^\s#]\S*)/, 1].to_s : "system"
        !version.delete_prefix("ruby-").start_with?(named)
      rescue SystemCallError
        false # a file that must not be read
      end

      # @return [Array<String>] the folder, and those that it lies in, the innermost first
      def above(folder) = [folder].concat((File.dirname(folder) == folder) ? [] : above(File.dirname(folder)))

      # @return [String, nil] path of the file that names the folder's Ruby
      def naming(folder)
        found = NAMING.map { |name| File.join(folder, name) }.find { |path| names_ruby?(path) }
        found || (naming(File.dirname(folder)) unless folder == File.dirname(folder))
      end

      # Some are of any tool: where one names Node.js alone, a shim looks for a Ruby further up, and may find none.
      def names_ruby?(path)
        File.file?(path) && (path.end_with?(".ruby-version") || File.binread(path).match?(/^[^#\n]*\bruby\b/))
      rescue SystemCallError
        false
      end

      # Under bin/exec there may be no Ruby but ours, or only one that an old system has for itself.
      def with_ruby(environment, directory)
        engine, version, = ruby(environment, directory)
        return environment unless engine == "ruby" && Gem::Version.new(version) < Gem::Version.new(OLDEST_RUBY)
        with_ours(environment, "ruby is #{version} in #{directory}, and can't be looked into before #{OLDEST_RUBY}")
      rescue Errno::ENOENT
        with_ours(environment, "there is no ruby on the PATH")
      end

      def with_ours(environment, reason)
        @told ||= warn("puma_tuner: #{reason}: the app is started with puma_tuner's own, #{RUBY_VERSION}, " \
          "for which the app's gems must be installed") || true
        environment.merge("PATH" => [RbConfig::CONFIG["bindir"], environment["PATH"]].compact.join(":"))
      end
      private_class_method :kept, :before_bundler, :before_shim, :asked_for?, :above, :naming, :names_ruby?, :with_ruby,
        :with_ours
    end
  end
end
