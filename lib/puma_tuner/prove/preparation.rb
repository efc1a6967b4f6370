# frozen_string_literal: true

require "digest"
require "open3"
require "shellwords"

module PumaTuner
  module Prove
    # Makes variants ready to run, before the first of them does: a checkout, gems in a folder of its own, another Ruby.
    # Nothing of the user's is changed.
    class Preparation
      # Options of `env` that may have their value in the next word.
      ENV_TAKES = %w[-u --unset -C --chdir].freeze
      UNSET = /\A(?:-u|--unset=?)(\w+)\z/
      private_constant :ENV_TAKES, :UNSET

      # A variant that is ready to be started.
      #
      # command: Host::Command; topology: nil for the command's own; puma_options: see Probe::Launch
      # other_server: whether it is no Puma; facts: of the files behind it, for the fingerprint
      # ignored: paths of the app's files that git ignores and its checkout lacks; empty where it is no checkout
      Ready = Data.define(:command, :topology, :puma_options, :other_server, :facts, :ignored) do
        def initialize(ignored: [], **fields) = super
      end

      # @param variants [Array<Variant>] all of them: when one needs gems of its own, all get theirs the same way
      # @param command [Host::Command] what all have in common
      # @param rackup [String, nil] the config.ru that it serves, when it serves one
      # @param folder [String, nil] for checkouts, where a variant is one; gone when the proof is over
      # @param own_gems [Boolean] whether variants get a bundle of their own for
      #   the gems they declare; else the caller sees to these
      # @param copied [Array<String>] files of the app, by their paths in its folder, that checkouts are given
      # @param say [#call] told what takes long
      def initialize(variants:, command:, folder:, rackup: nil, own_gems: true, copied: [], say: ->(_) {})
        @own_gems = own_gems
        @bundled = own_gems &&
          variants.any? { |variant| variant.factors.keys.any? { |key| key.start_with?("gem") || key == "ruby" } }
        @command = command
        @rackup = rackup
        @folder = folder
        @copied = copied
        @say = say
        @ready = {}
      end

      # @param variant [Variant]
      # @return [Ready]
      # @raise [UsageError] when it can't be had
      def call(variant) = @ready[variant.factors] ||= prepare(variant)

      private

      def prepare(variant)
        factors = variant.factors
        directory, checkout = directory_of(factors)
        environment = environment_of(factors)
        words = with_own_values(words_of(factors, directory), factors)
        ruby = factors["ruby"] && Installed.ruby(factors["ruby"])
        bundle = bundle_of(factors, directory, environment, ruby, beside: (@folder if checkout))
        environment, words = bundle.around(environment, words) if bundle
        environment, words = with_ruby(environment, words, ruby) if ruby
        run_setup(factors["setup"], directory, environment)
        Ready.new(command: @command.with(words:, directory:, environment:), topology: variant.topology,
          puma_options: puma_options(factors, directory),
          other_server: words.any? { |word| word.include?(Host::OtherServer::PLACE) },
          facts: facts(factors, directory, checkout&.commit), ignored: checkout ? checkout.ignored : [])
      end

      # @return [Array(String, Checkout)] the variant's folder, and the checkout that it lies in; nil for the user's own
      def directory_of(factors)
        return [@command.directory, nil] unless (ref = factors["git"])
        checkout = Checkout.new(@command.directory, ref, into: @folder, say: @say)
        checkout.make(copied: @copied)
        [checkout.directory, checkout]
      end

      def environment_of(factors)
        environment = @command.environment.dup
        factors.each { |key, value| environment[key.delete_prefix("env.")] = value if key.start_with?("env.") }
        environment["RUBYOPT"] = [environment["RUBYOPT"], factors["rubyopt"]].compact.join(" ") if factors["rubyopt"]
        set_yjit(environment, factors["yjit"]) if factors["yjit"]
        environment[Probe::Launch::AFFINITY] = taskset(factors["affinity"]) if %w[on core].include?(factors["affinity"])
        environment["LD_PRELOAD"] = Installed.library(factors["preload"]) if factors["preload"]
        environment.compact
      end

      def taskset(value)
        Host::Placement.taskset or raise UsageError,
          "affinity=#{value} needs `taskset`, of util-linux, which binds processes to cores; " \
          "install it. There is none but on Linux."
      end

      def set_yjit(environment, on_or_off)
        environment["RUBY_YJIT_ENABLE"] = ("1" if on_or_off == "on")
        environment[Probe::YjitOff::VARIABLE] = ("1" if on_or_off == "off")
      end

      def words_of(factors, directory)
        return factors["command"].shellsplit if factors["command"]
        return @command.words unless factors["app"]
        unless @rackup
          raise UsageError, "app=#{factors["app"]} takes the place of a config.ru, " \
            "but the app is started by a command; use command="
        end
        app = existing!("app", factors["app"], directory)
        @command.words.map { |word| (word == File.basename(@rackup)) ? app : word }
      end

      # A command that begins with `env FOO=…` or `env -u FOO` does so after the variant has set it, whose value is to
      # hold.
      def with_own_values(words, factors)
        return words unless File.basename(words.first.to_s) == "env"
        its = words.each_cons(2).take_while { |last, word| word.match?(/\A-|\A\w+=/) || ENV_TAKES.include?(last) }
        kept = its.map(&:last).slice_when { |last, _| !ENV_TAKES.include?(last) }
          .reject { |part| factors.key?("env.#{part.join[UNSET, 1]}") }.flatten
        own = kept.map do |word|
          name = word[/\A\w+(?==)/]
          factors.key?("env.#{name}") ? "#{name}=#{factors["env.#{name}"]}" : word
        end
        [words.first, *own, *words.drop(its.size + 1)]
      end

      def bundle_of(factors, directory, environment, ruby, beside:)
        # The command's own. One that runs with our gems (a config.ru without a Gemfile) has none.
        own = Host::AppGemfile.of(directory, environment["BUNDLE_GEMFILE"])
        gemfile = factors["gemfile"] ? existing!("gemfile", factors["gemfile"], directory) : own
        needed = @bundled || (@own_gems && factors["git"] && own)
        return unless needed
        Bundle.new(gemfile:, gems: Factors.gems(factors), ruby: ruby || @command.ruby, environment:, say: @say, beside:)
          .install
      end

      def with_ruby(environment, words, ruby)
        environment = environment.merge("PATH" => "#{File.dirname(ruby)}:#{environment["PATH"]}")
        [environment.except("GEM_HOME", "GEM_PATH"), words.map { |word| (word == Gem.ruby) ? ruby : word }]
      end

      def run_setup(setup, directory, environment)
        return unless setup
        shown = Host::Masking.shell(setup)
        @say.call("running #{shown}")
        output, status = Open3.capture2e(environment, *setup.shellsplit, chdir: directory, unsetenv_others: true)
        raise UsageError.new("setup=#{shown} failed.", output: output.lines(chomp: true).last(8)) unless status.success?
      rescue SystemCallError => error
        raise UsageError, "setup=#{shown} could not be started: #{error.message}"
      end

      def puma_options(factors, directory)
        options = factors.filter_map { |key, value| [key.delete_prefix("puma."), value] if key.start_with?("puma.") }
          .to_h
        options["workers"] = factors["workers"] if factors["workers"]
        options["threads"] = factors["threads"] if factors["threads"]
        options["config"] = existing!("config", factors["config"], directory) if factors["config"]
        options
      end

      # Returns the facts behind a variant's names. The commit's include what has been changed since.
      def facts(factors, directory, commit)
        files = {"app" => factors["app"] || @rackup, "config" => factors["config"],
                 "gemfile" => factors["gemfile"]}.compact
        facts = files.to_h do |name, path|
          [[:file, name], Digest::SHA256.file(existing!(name, path, directory)).hexdigest[0, 12]]
        end
        facts[[:commit, nil]] = commit || commit_of(directory)
        facts.compact
      end

      def commit_of(directory)
        head, status = Open3.capture2("git", "-C", directory, "rev-parse", "HEAD", err: File::NULL)
        return unless status.success?
        changes, = Open3.capture2("git", "-C", directory, "status", "--porcelain", "--", ".", err: File::NULL)
        changes.empty? ? head.strip : "#{head.strip} with changes"
      rescue SystemCallError
        nil # no git here
      end

      def existing!(key, path, directory)
        full = [directory, Dir.pwd].map { |folder| Host::UserPath.expand("#{key}=#{path}", path, folder) }
          .find { |file| File.file?(file) && File.readable?(file) }
        full or raise UsageError, "#{key}=#{path}: there is no such file in #{directory} that can be read"
      end
    end
  end
end
