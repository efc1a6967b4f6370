# frozen_string_literal: true

require "fileutils"
require "open3"
require "rubygems"

module PumaTuner
  module Profile
    # Finds profilers' gems on this machine, without the app's bundle knowing them: their folders go to the end of the
    # server's load path, behind all that is its own.
    #
    # Bundler hides gems that are not of its bundle, so the files that describe gems are read where they lie.
    class Library
      class << self
        # @param gem_name [String]
        # @param requirement [String] of its version, such as "~> 1.12"
        # @return [Array<String>] folders for the load path: the gem's, with its
        #   compiled part, then those of what it depends on
        # @raise [UsageError] when it, or what it depends on, is not installed for this Ruby
        def locate(gem_name, requirement = ">= 0") = new.locate(gem_name, requirement)

        # @param profiler [Class] of Profilers
        # @return [Array<String>] as `locate`; none of one that is no gem
        # @raise [UsageError]
        def paths_of(profiler) = profiler::GEM ? locate(profiler::GEM, profiler::VERSION_REQUIREMENT) : []

        # @param profiler [Class] of Profilers
        # @return [Boolean] whether it can be located
        def installed?(profiler)
          !!paths_of(profiler)
        rescue UsageError
          false
        end

        # Installs a profiler's pinned version into our own folder. This downloads.
        #
        # @param name [String] of a profiler
        # @return [Array<String>] as `locate`
        # @raise [UsageError] when it can't be had
        def install(name) = new.install(Profile.profiler(name))

        # @return [String] where `install` puts gems for this Ruby
        def folder = File.join(Host::CacheFolder.path, "profilers", RUBY_VERSION)

        # @return [Array<String>] of gems, with a folder "specifications" each; ours is the last
        def folders
          before_bundler = %w[BUNDLER_ORIG_GEM_HOME BUNDLER_ORIG_GEM_PATH].flat_map do |name|
            ENV[name].to_s.split(File::PATH_SEPARATOR)
          end
          [*Gem.path, *before_bundler, Gem.default_dir, Gem.user_dir, folder]
            .select { |path| path.start_with?("/") }.uniq
        end
      end

      # @param folders [Array<String>] of gems
      def initialize(folders: Library.folders)
        @folders = folders
      end

      # (see .locate)
      def locate(gem_name, requirement)
        found = {}
        wanted = [[gem_name, Gem::Requirement.new(requirement)]]
        while (name, needed = wanted.shift)
          next if found.key?(name)
          found[name] = spec = newest(name, needed) or raise UsageError, missing(gem_name, name, needed)
          wanted.concat(spec.runtime_dependencies.map { |dependency| [dependency.name, dependency.requirement] })
        end
        found.values.reject(&:default_gem?).flat_map(&:full_require_paths).uniq
      end

      # @param profiler [Class]
      # (see .install)
      def install(profiler)
        unless profiler::GEM
          raise UsageError, "#{profiler::NAME} is not a gem. #{profiler.new.why_not || "It is there already."}"
        end
        ensure_ruby(profiler)
        FileUtils.mkdir_p(Library.folder)
        File.open("#{Library.folder}.lock", "w") do |lock|
          lock.flock(File::LOCK_EX)
          install_gem(profiler::GEM, profiler::PINNED_VERSION)
        end
        locate(profiler::GEM, profiler::VERSION_REQUIREMENT)
      rescue SystemCallError => error
        raise UsageError, "#{profiler::NAME} can't be installed into #{Library.folder}: #{error.message}. " \
          "PUMA_TUNER_CACHE names another folder."
      end

      private

      # @return [Gem::Specification, nil]
      def newest(name, needed)
        specs(name).select { |spec| needed.satisfied_by?(spec.version) && usable?(spec) }.max_by(&:version)
      end

      # A gem whose compiled part is for another Ruby, or was never made, has none that would load.
      def usable?(spec) = spec.required_ruby_version.satisfied_by?(Gem.ruby_version) && !spec.missing_extensions?

      def specs(name)
        @specs ||= {}
        files = "specifications/{,default/}#{name}-[0-9]*.gemspec"
        @specs[name] ||= @folders.flat_map { |folder| Dir[File.join(folder, files)] }
          .filter_map { |path| Gem::Specification.load(path) }.select { |spec| spec.name == name }
      end

      def missing(gem_name, name, needed)
        return "#{gem_name} needs #{name} #{needed}, which is not installed: #{how(name)}" unless name == gem_name
        others = specs(name).reject { |spec| spec.required_ruby_version.satisfied_by?(Gem.ruby_version) }
        if others.any?
          return "#{name} #{others.last.version} needs Ruby " \
            "#{others.last.required_ruby_version}, and this is #{RUBY_VERSION}."
        end
        there = specs(name).map { |spec| spec.version.to_s }.uniq
        return "#{name} #{needed} is not installed: #{how(name)}" if there.empty?
        "#{name} #{there.join(" and ")} is installed, and known to work is #{needed}, " \
          "compiled for Ruby #{RUBY_VERSION}: #{how(name)}"
      end

      def how(name)
        "puma_tuner profile --install #{name}, or gem install #{name}, " \
          "or add it to the app's Gemfile (group :development)."
      end

      def ensure_ruby(profiler)
        needed = Gem::Requirement.new(profiler::RUBY_REQUIREMENT)
        return if needed.satisfied_by?(Gem.ruby_version)
        raise UsageError, "#{profiler::NAME} needs Ruby #{needed}, and this is #{RUBY_VERSION}."
      end

      # It runs without what Bundler and the environment say of where gems belong.
      def install_gem(name, version)
        environment = ENV.to_h.reject { |key, _| key.match?(/\A(BUNDLE|GEM_HOME|GEM_PATH|RUBYLIB\z|RUBYOPT\z)/) }
        output, status = Open3.capture2e(environment, Gem.ruby, File.join(RbConfig::CONFIG["bindir"], "gem"), "install",
          name, "--version", version, "--install-dir", Library.folder, "--no-document", unsetenv_others: true)
        return if status.success?
        lines = output.lines.last(10).map { |line| "  | #{line}" }
        raise UsageError, "#{name} #{version} can't be installed:\n#{lines.join}"
      end
    end
  end
end
