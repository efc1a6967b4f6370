# frozen_string_literal: true

module PumaTuner
  module Lab
    # How a lab's child is started: a Ruby with exactly the gems that its variant declares (`gem.NAME=version`), none of
    # ours, none of the user's. Other factors are made ready as `prove` does.
    #
    # Not `gem.` as prove has it, through Bundler: that installs while it prepares, and in a lab only set-up may; and
    # old gems are to run beside dependencies that they do not know to allow.
    #
    # `git=` is a commit of one of the lab's sources, whose checkout the child runs in.
    class Commands
      # Of whoever runs us: Bundler, RubyGems, flags; and of the terminal, which is another one when a run goes on.
      FOREIGN = /\A(BUNDLE|GEM_|SSH_|TMUX|XDG_|
        (RUBYOPT|RUBYLIB|RUBY_YJIT_ENABLE|STY|WINDOWID|INVOCATION_ID|JOURNAL_STREAM)\z)/x

      # @return [Hash{String => String}] ours, without what would bring in gems and flags
      def self.clean_environment = ENV.to_h.reject { |name, _| FOREIGN.match?(name) }

      # @param folder [String] of the lab
      # @param variants [Array<Prove::Variant>]
      # @param pins [Array<Gems::Pin>] the lab's: dependencies are taken from these and no others, whatever other labs
      #   have installed; none: from all that is installed
      # @param sources [Array<Source>] the lab's
      def initialize(folder:, variants:, pins: [], sources: [])
        @pins = pins.map { |pin| "#{pin.name}=#{pin.version}" }.uniq
        @sources = sources
        @preparations = Hash.new do |made, source|
          directory = source ? source.folder : folder
          command = Host::Command.new(words: [Gem.ruby], directory:, environment: Commands.clean_environment)
          made[source] = Prove::Preparation.new(variants:, command:, folder: source&.checkouts, own_gems: false)
        end
      end

      # @param variant [Prove::Variant]
      # @return [Host::Command] that ends in a Ruby
      def call(variant)
        command = @preparations[source_of(variant)].call(variant).command
        command.with(environment: {**command.environment, **gem_variables(variant.factors)})
      end

      private

      # @return [Source, nil]
      # @raise [UsageError] when it is not there
      def source_of(variant)
        commit = variant.factors["git"] or return
        source = @sources.find { |one| one.commits.include?(commit) }
        return source if source&.there?
        raise UsageError, "the commit #{commit[0, 12]}#{" of #{source.address}" if source} is not there; " \
          "`puma_tuner lab setup` fetches what labs need"
      end

      # RubyGems itself is led to a place that has nothing: else it would find
      # the newest version of what a variant leaves out.
      def gem_variables(factors)
        gems = Prove::Factors.gems(factors).map { |gem| gem.join("=") }
        nowhere = File.join(Gems.root, "none")
        {"PUMA_TUNER_LAB_GEMS" => gems.join(" "), "PUMA_TUNER_LAB_PINS" => @pins.join(" "),
         "PUMA_TUNER_CACHE" => Gems.cache, "GEM_HOME" => nowhere, "GEM_PATH" => nowhere}
      end
    end
  end
end
