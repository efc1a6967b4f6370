# frozen_string_literal: true

require "digest"
require "fileutils"
require "open3"

module PumaTuner
  module Prove
    # A variant's gems: a Gemfile and a lockfile of its own, installed into a folder of its own, kept for the next time.
    # All such folders have names of the same length, as the length of a path can change how long a program takes.
    #
    # A checkout lies elsewhere each time, and its gems are the same: they are kept by what its Gemfile and lockfile
    # say.
    class Bundle
      # @param gemfile [String, nil] the app's; nil: none, then Puma and Rack as they run here
      # @param gems [Hash{String => String}] versions that are to differ
      # @param ruby [String, nil] that they are for; nil: ours
      # @param environment [Hash] of the app
      # @param beside [String, nil] where Gemfile and lockfile go, which is gone after the proof as the app's own is;
      #   nil: they are kept with the gems
      def initialize(gemfile:, gems:, ruby:, environment:, say:, beside: nil)
        @gemfile = gemfile
        @gems = gems
        @ruby = ruby || Gem.ruby
        @environment = environment
        @say = say
        @beside = beside
      end

      # @return [Bundle] itself, ready to be used
      # @raise [UsageError] when the gems can't be had
      def install
        [kept, folder].each { |path| FileUtils.mkdir_p(path) }
        File.open(File.join(kept, "lock"), "w") do |lock|
          lock.flock(File::LOCK_EX)
          write_files
          next if run("check").last.success?
          @say.call("installing gems (#{description})")
          output, status = run("install")
          unless status.success?
            lines = output.lines.last(10).map { |line| "  | #{line}" }
            raise UsageError, "the gems of a variant can't be installed:\n#{lines.join}"
          end
        end
        self
      end

      # @return [Boolean] whether nothing is left to be installed
      def installed?
        File.file?(File.join(folder, "Gemfile")) && File.read(File.join(folder, "Gemfile")) == gemfile_text &&
          run("check").last.success?
      end

      # @return [Array(Hash, Array<String>)] environment and words of a command that runs with these gems
      def around(environment, words)
        words = words.drop(2) if words.first(2) == ["bundle", "exec"]
        words = words.drop(2) if words.first(2) == [Gem.ruby, "-S"]
        words = words.map { |word| (word == Gem.ruby) ? @ruby : word }
        [without_bundler(environment).merge(variables), [@ruby, "-S", "bundle", "exec", *words]]
      end

      private

      # @return [String] where Gemfile and lockfile are
      def folder = @folder ||= @beside ? File.join(@beside, "bundle-#{name([@gemfile])}") : kept

      # @return [String] beside the user's caches, as gems are large, and the same next time
      def kept
        place = File.expand_path(@gemfile) if @gemfile && !@beside
        @kept ||= File.join(Host::CacheFolder.path, "variants", name([place]))
      end

      def name(more)
        parts = [*more, @gemfile && File.read(@gemfile), lockfile && File.read(lockfile), @gems.sort, @ruby]
        Digest::SHA256.hexdigest(parts.inspect)[0, 16]
      end

      def lockfile
        return unless @gemfile
        path = (File.basename(@gemfile) == "gems.rb") ? @gemfile.sub(/rb\z/, "locked") : "#{@gemfile}.lock"
        path if File.file?(path)
      end

      def write_files
        text = gemfile_text
        path = File.join(folder, "Gemfile")
        return if File.file?(path) && File.read(path) == text
        File.write(path, text)
        lockfile ? FileUtils.cp(lockfile, "#{path}.lock") : FileUtils.rm_f("#{path}.lock")
      end

      def description
        return File.basename(@gemfile) if @gems.empty? && @gemfile
        (@gems.empty? ? own_gems : @gems).map { |gem| gem.join(" ") }.join(", ")
      end

      # The app's own lines, then ours over them.
      def gemfile_text
        base = if @gemfile
          "eval_gemfile #{File.expand_path(@gemfile).dump}"
        else
          "source Gem.sources.to_a.first\n#{lines(own_gems)}"
        end
        <<~RUBY
          #{base}
          @dependencies.reject! { |dependency| #{@gems.keys.inspect}.include?(dependency.name) }
          #{lines(@gems)}
        RUBY
      end

      def lines(gems) = gems.map { |name, version| "gem #{name.dump}, #{version.dump}" }.join("\n")

      def own_gems
        %w[puma rack].filter_map { |name| [name, Gem.loaded_specs[name] || newest(name)] }
          .to_h { |name, spec| [name, spec.version.to_s] }
      end

      def newest(name)
        Gem::Specification.find_all_by_name(name).max_by(&:version) or
          raise UsageError, "#{name} is not installed here, and the app has no Gemfile; add one"
      end

      def variables
        {"BUNDLE_GEMFILE" => File.join(folder, "Gemfile"), "BUNDLE_PATH" => File.join(kept, "gems"),
         "BUNDLE_APP_CONFIG" => File.join(kept, "config"), "BUNDLE_FROZEN" => nil}.compact
      end

      # Settings of the user's that count for any Gemfile: groups that are left out, and what there is for hosts (as of
      # private gems), builds and mirrors, whose dots are written as two underscores. Two with dots are left out:
      # path.system would install into the user's own gems, and local.… takes a working copy for a gem.
      USERS = /\ABUNDLE_(?:WITH|WITHOUT|ONLY|(?!PATH__|LOCAL__)\w+__.+)\z/
      private_constant :USERS

      # Removes what another Bundler, or that of another Ruby, has left.
      def without_bundler(environment)
        flags = environment["RUBYOPT"].to_s.gsub(/\s*-r\S*bundler\/setup/, "").strip
        environment
          .reject { |name, _| name.match?(/\A(BUNDLE|GEM_HOME|GEM_PATH|RUBYLIB\z|RUBYOPT\z)/) && !name.match?(USERS) }
          .merge(flags.empty? ? {} : {"RUBYOPT" => flags})
      end

      def run(word)
        environment = without_bundler(@environment).except("RUBYOPT", "LD_PRELOAD").merge(variables)
        Open3.capture2e(environment, @ruby, "-S", "bundle", word, unsetenv_others: true)
      end
    end
  end
end
