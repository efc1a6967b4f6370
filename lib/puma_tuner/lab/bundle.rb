# frozen_string_literal: true

module PumaTuner
  module Lab
    # The gems of a served variant, by Bundler, in exact versions. A Gemfile of the lab's is installed as `prove` does it, in a
    # folder for each; an application elsewhere keeps the gems that its own set-up has installed.
    class Bundle
      # @param variant [Prove::Variant] with a factor `gemfile`
      # @param folder [String] of the lab
      # @return [Bundle]
      def self.of(variant, folder:)
        gems = variant.factors.filter_map { |key, value| [key.delete_prefix("gem."), value] if key.start_with?("gem.") }.to_h
        new(File.expand_path(variant.factors.fetch("gemfile"), folder), gems, own: !File.expand_path(variant.factors.fetch("gemfile"), folder).start_with?("#{folder}/"))
      end

      # @param bundles [Array<Bundle>] what is there is left alone
      # @param say [#call] told what takes long
      def self.install(bundles, say:) = bundles.uniq(&:to_s).reject(&:installed?).each { |bundle| bundle.install(say) }

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

      # @raise [UserMistake] when they can't be had
      def install(say)
        @own ? insist : prove_bundle(say).install
      end

      # @return [Bundle] itself
      # @raise [UserMistake] when they are not installed
      def insist
        return self if @insisted ||= installed?
        raise UserMistake, "the gems of #{self} are not installed. Run: puma_tuner lab setup"
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
