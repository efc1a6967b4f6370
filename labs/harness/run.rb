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
      def initialize(lab, quick: false, seed: 1, say: ->(_) {}, command: nil, busy_machine: quick, folder: Lab.folder_of(lab), kept: Kept::Nothing)
        @lab = lab
        @quick = quick
        @seed = seed
        @say = say
        @command = command
        @busy_machine = busy_machine
        @folder = folder
        @kept = kept
        @started_at = Time.now.utc.iso8601
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
      # @return [Prove::Verdict]
      def proof(file, variants, rounds_count:, duration_s:, warmup_limit_s:, title: nil, **options)
        plan = BlockProof::Plan.new(rounds_count:, duration_s:, warmup_limit_s:, seed: @seed, command: @command, busy_machine: @busy_machine, **options)
        kept = @kept.journal(title, {"file" => file, **same(variants, plan)})
        BlockProof.new(File.join(@folder, file), variants, plan, pins:, kept:).call { |what| note([title, what].compact.join(": ")) }
      end

      # Measures served applications against each other, in rounds.
      #
      # @param variants [Hash{String => Hash{String => String}}] factors by name, the baseline first; each names its `gemfile`
      # @param traffic [Load::Traffic] what is sent
      # @param out [#call] variant's name -> file for its standard output
      # @param title [String] said before what is at hand
      # @return [Prove::Verdict]
      def served_proof(variants, traffic:, out:, rounds_count:, duration_s:, warmup_limit_s:, title: nil, **options)
        plan = ServedProof::Plan.new(rounds_count:, duration_s:, warmup_limit_s:, seed: @seed, command: @command, busy_machine: @busy_machine, **options)
        kept = @kept.journal(title, {"connections" => traffic.connections_count, "arrivals" => traffic.arrivals.to_s, **same(variants, plan)})
        ServedProof.new(variants, traffic:, plan:, folder: @folder, out:, kept:).call { |what| note([title, what].compact.join(": ")) }
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
        Commands.new(folder: @folder, variants: [variant], pins:).call(variant)
      end

      # @param fields [Hash] those of Finding that are not the lab's or the run's
      # @return [Finding]
      def finding(**fields)
        Finding.new(lab: @lab.name, title: @lab.title, question: @lab.question, quick: @quick, machine: @machine, command: @command,
          started_at: @started_at, **fields)
      end

      private

      def same(variants, plan) = {"variants" => variants.to_a, "plan" => plan.to_h.except(:command).transform_keys(&:to_s)}

      def pins = @pins ||= @lab.gems(quick: @quick)
    end
  end
end
