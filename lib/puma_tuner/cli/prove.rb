# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner prove: two or more topologies of one app, measured against each other.
    class Prove < Dry::CLI::Command
      include AppOptions

      desc "Measure topologies of an app against each other, under load, in interleaved rounds"
      option :topologies, desc: "what to compare, the baseline first, such as 1x5,2x3"
      option :rounds, default: "6", desc: "how often each is measured; an interval needs 6"
      option :duration, default: "4", desc: "seconds of load in each trial"
      option :warmup, default: "2", desc: "seconds of load before that"
      option :output, default: "verdict.json", desc: "file for the verdict"
      option :html, desc: "file for an HTML report"
      example ["config.ru --topologies 1x5,2x3 --path /articles"]

      def call(app: [], output: nil, html: nil, **options)
        Output.check_writable(output, html)
        verdict = verdict_of(command_of(app:, **options), traffic_of(**options), **options)
        Output.keep(verdict, output, out:, err:, html:)
      end

      private

      def verdict_of(command, traffic, rounds:, duration:, warmup:, topologies: nil, **options)
        proof = PumaTuner::Prove::Proof.new(variants: variants_of(topologies), command:, traffic:, seed: traffic.seed,
          rounds_count: Parse.count("--rounds", rounds, 1..200), warmup_s: Parse.seconds("--warmup", warmup),
          duration_s: Parse.seconds("--duration", duration), boot_limit_s: boot_limit_s(**options))
        Progress.new(err).stage("prove", proof.expected_s) { |stage| proof.call { |what| stage.note(what) } }
      end

      def variants_of(topologies)
        list = Parse.topologies(topologies)
        raise UserMistake, "--topologies: name at least two, the baseline first, such as 1x5,2x3" if list.size < 2
        seen = Hash.new(0)
        list.map do |topology|
          name = ((seen[topology] += 1) > 1) ? "#{topology} again" : topology.to_s
          PumaTuner::Prove::Variant.new(name:, topology:, forecast: nil)
        end
      end
    end
  end
end
