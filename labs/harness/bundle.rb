# frozen_string_literal: true

module PumaTuner
  module Lab
    # The gems of a served variant, by Bundler, in exact versions. A Gemfile of the lab's is installed as `prove` does
    # it, in a folder for each; an application elsewhere keeps the gems that its own set-up has installed.
    class Bundle
      class << self
        # @param factors [Hash{String => String}] of a variant, `gemfile` among them
        # @param folder [String] of the lab
        # @return [Bundle]
        def of(factors, folder:)
          gemfile = File.expand_path(factors.fetch("gemfile"), folder)
          new(gemfile, Prove::Factors.gems(factors), own: !gemfile.start_with?("#{folder}/"))
        end

        # @param lab [Object]
        # @return [Array<Bundle>] those it needs, each once
        def needed(lab, quick:) = lab.respond_to?(:bundles) ? lab.bundles(quick:).uniq(&:to_s) : []

        # @raise [UsageError] when one of the lab's is not installed
        def ensure_installed(lab, quick:)
          missing = needed(lab, quick:).reject(&:installed?)
          return if missing.empty?
          raise UsageError, "the lab #{lab.name} needs what is not installed: #{missing.join("; ")}. " \
            "Run: puma_tuner lab setup #{lab.name}#{" --quick" if quick}"
        end
      end

      # @param gemfile [String] path
      # @param gems [Hash{String => String}] versions over it
      # @param own [Boolean] whether it belongs to an application that has its gems already
      def initialize(gemfile, gems, own: false)
        @gemfile = gemfile
        @gems = gems
        @own = own
      end

      # @return [Boolean]
      def installed? = @own ? File.file?(@gemfile) : prove_bundle.installed?

      # What is there is left alone.
      # @param say [#call] told what takes long
      # @raise [UsageError] when they can't be had
      def install(say)
        @own ? ensure_installed : prove_bundle(say).install
      end

      # @return [Bundle] itself
      # @raise [UsageError] when they are not installed
      def ensure_installed
        return self if @checked ||= installed?
        raise UsageError, "the gems of #{self} are not installed; `puma_tuner lab setup` does that"
      end

      # @return [Array(Hash, Array<String>)] environment and words of a command that runs with these gems
      def around(environment, words)
        return prove_bundle.around(environment, words) unless @own
        # The Ruby may be another than ours, by the variant's `ruby=`.
        ruby, *words = (words[1] == "-S") ? [words.first, *words.drop(2)] : [Gem.ruby, *words]
        [{**environment, "BUNDLE_GEMFILE" => @gemfile}, [ruby, "-S", "bundle", "exec", *words]]
      end

      # @return [String]
      def to_s = [@gemfile, *@gems.map { |gem| gem.join(" ") }].join(" with ")

      private

      def prove_bundle(say = ->(_) {})
        Prove::Bundle.new(gemfile: @gemfile, gems: @gems, ruby: nil, environment: Commands.clean_environment, say:)
      end
    end
  end
end
