# frozen_string_literal: true

require "time"

module PumaTuner
  module Lab
    # What a lab is given to work with, once.
    class Run
      # @return [Integer] of all chance
      attr_reader :seed

      # @return [String] of the lab
      attr_reader :folder

      # @param lab [Object]
      # @param quick [Boolean] the short form: fewer variants, wide intervals
      # @param seed [Integer]
      # @param say [#call] told what is at hand
      # @param command [String] that repeats it
      # @param busy_machine [Boolean] whether rounds count that others on the machine have disturbed
      # @param folder [String] of the lab
      # @param kept [Kept] what an interrupted run has left, and where this one keeps what it measures
      def initialize(lab, quick: false, seed: 1, say: ->(_) {}, command: nil, busy_machine: quick,
        folder: Lab.folder_of(lab), kept: Kept::Nothing)
        @lab = lab
        @quick = quick
        @seed = seed
        @say = say
        @command = command
        @busy_machine = busy_machine
        @folder = folder
        @kept = kept
        @started_at = Time.now.utc.iso8601
        @commit = Commit.of(FOLDER)
        @machine = Probe::MachineFacts.read
      end

      def quick? = @quick

      # @return [Boolean] whether rounds count that others on the machine have disturbed
      def busy_machine? = @busy_machine

      # @param text [String] what is at hand
      def note(text) = @say.call(text)

      # A part of the lab that is no proof: what an interrupted run has measured of it is taken up.
      #
      # @param name [String]
      # @yieldreturn [Object] values that Marshal can keep
      # @return [Object] that
      def part(name, &) = @kept.part(name, &)

      # Measures blocks of Ruby against each other, in rounds.
      #
      # @param file [String] in the lab's folder
      # @param variants [Hash{String => Hash{String => String}}] factors by name, the baseline first, such as
      #   {"old" => {"gem.json" => "2.7.2"}, "with YJIT" => {"gem.json" => "2.7.2", "yjit" => "on"}}
      # @param title [String] said before what is at hand
      # @param options [Hash{Symbol => Object}] see Proofs.of_blocks
      # @return [Prove::Verdict]
      # @raise [InvalidMeasurement] when it ended early: a claim rests on all of its rounds
      def proof(file, variants, title: nil, **options)
        options = {**Proofs::OF_BLOCKS, **common, **options}
        kept = @kept.journal(title, {"file" => file, **same(variants, options)})
        options = {**options, pins:, sources:, command: @command}
        prove(Proofs.of_blocks(File.join(@folder, file), variants, **options), kept, title)
      end

      # Measures served applications against each other, in rounds.
      #
      # @param variants [Hash{String => Hash{String => String}}] factors by
      #   name, the baseline first; each names its `gemfile`
      # @param traffic [Load::Traffic] what is sent
      # @param out [#call] variant's name -> file for its standard output
      # @param title [String] said before what is at hand
      # @param options [Hash{Symbol => Object}] see Proofs.served
      # @return [Prove::Verdict]
      # @raise [InvalidMeasurement] as above
      def served_proof(variants, traffic:, out:, title: nil, **options)
        options = {**Proofs::SERVED, **common, **options}
        load = {"connections" => traffic.connections_count, "arrivals" => traffic.arrivals.to_s}
        kept = @kept.journal(title, {**load, **same(variants, options)})
        prove(Proofs.served(variants, traffic:, folder: @folder, out:, command: @command, **options), kept, title)
      end

      # Runs one of the lab's programs once.
      #
      # @param file [String] in the lab's folder
      # @param words [Array<String>] for it
      # @param factors [Hash{String => String}] as of a variant
      # @param limit_s [Numeric]
      # @return [Object] what it printed, as JSON
      def child(file, *words, factors: {}, limit_s: 120)
        Child.call(command_of(factors), File.join(@folder, file), words, limit_s:)
      end

      # @param factors [Hash{String => String}] as of a variant
      # @return [Host::Command] that ends in a Ruby, with the lab's gems
      def command_of(factors)
        variant = Prove::Variant.new(name: "child", factors:)
        Commands.new(folder: @folder, variants: [variant], pins:, sources:).call(variant)
      end

      # @param fields [Hash] those of Finding that are not the lab's or the run's
      # @return [Finding]
      def finding(**fields)
        Finding.new(lab: @lab.name, title: @lab.title, question: @lab.question, quick: @quick, machine: @machine,
          command: @command, started_at: @started_at, commit: @commit, ruby: RUBY_DESCRIPTION, **fields)
      end

      private

      def common = {seed: @seed, busy_machine: @busy_machine}

      # What must be the same for a proof to go on.
      def same(variants, options) = {"variants" => variants.to_a, "plan" => options.transform_keys(&:to_s)}

      # @param setup [Prove::Setup]
      def prove(setup, kept, title)
        verdict = setup.proof(kept:).call { |what| note([title, CLI::Progress.words(what)].compact.join(": ")) }
        return verdict if verdict.complete
        raise InvalidMeasurement, "there are #{Units.counted(verdict.rounds_count, "round")} that count, " \
          "fewer than were wanted: #{Report::Statements.words(verdict.stopped_because)}"
      end

      def pins = @pins ||= @lab.gems(quick: @quick)

      def sources = @sources ||= Source.needed(@lab, quick: @quick)
    end
  end
end
