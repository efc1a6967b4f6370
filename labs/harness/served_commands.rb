# frozen_string_literal: true

module PumaTuner
  module Lab
    # How a lab's served variants are started: each with the gems of its Gemfile (`gemfile=`, `gem.NAME=version` over
    # it) and no others, and what it prints on standard output in a file of its own, as that may be its work. Other
    # factors are made ready as `prove` does.
    #
    # Installing is for `puma_tuner lab setup`: what is not installed is refused here.
    class ServedCommands
      # A shop's application takes its time to load.
      BOOT_LIMIT_S = 90

      # Puma on the variant's `app=`, in this word's place.
      RACKUP = "config.ru"
      WORDS = [Gem.ruby, "-S", "puma", "--silent", RACKUP].freeze

      # Its process is then the server's, so that signals and CPU time are, too.
      INTO_FILE = 'lines=$1; shift; exec "$@" >>"$lines"'

      # @param folder [String] of the lab; variants run in it, and name their files from there
      # @param variants [Array<Prove::Variant>]
      # @param out [#call] variant's name -> path of the file for its standard output
      def initialize(folder:, variants:, out:)
        @out = out
        @bundles = Hash.new { |known, factors| known[factors] = Bundle.of(factors, folder:) }
        command = Host::Command.new(words: WORDS, directory: folder, environment: Commands.clean_environment)
        @preparation = Prove::Preparation.new(variants:, command:, rackup: RACKUP, folder: nil, own_gems: false)
      end

      # The commit is the finding's, and the same for all variants. As a fact of each it would end a run that goes on
      # after another lab's finding was written into this folder.
      #
      # @param variant [Prove::Variant]
      # @return [Prove::Preparation::Ready]
      # @raise [UsageError] when its gems are not installed
      def call(variant)
        ready = @preparation.call(variant)
        command = with_gems(ready.command, variant)
        words = ["sh", "-c", INTO_FILE, "sh", @out.call(variant.name), *command.words]
        ready.with(command: command.with(words:), facts: {**ready.facts.except([:commit, nil]), **of_command(variant)})
      end

      # Serves a variant, outside of any proof.
      # @param variant [Prove::Variant]
      # @yieldparam server [Host::ServerProcess]
      def serve(variant, boot_limit_s: BOOT_LIMIT_S, &)
        ready = call(variant)
        kind = ready.other_server ? Host::OtherServer : Host::ServerProcess
        kind.run(ready.command, topology: ready.topology, puma_options: ready.puma_options, boot_limit_s:, &)
      end

      private

      # Of a server that can't be asked, this alone tells that it is another one.
      def of_command(variant)
        words = variant.factors["command"]
        words ? {[:command, nil] => Host::Masking.hide(words)} : {}
      end

      def with_gems(command, variant)
        environment, words = @bundles[variant.factors].ensure_installed.around(command.environment, command.words)
        command.with(environment:, words:)
      end
    end
  end
end
