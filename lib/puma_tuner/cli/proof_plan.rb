# frozen_string_literal: true

module PumaTuner
  module CLI
    # The words of `prove` as a proof: what is compared, by what, how often.
    class ProofPlan
      include AppOptions::Reading

      # Options that make trials what they are, and those by which they are judged: who has seen rounds must not change these.
      SAME = %i[path requests data connections rate arrivals think reuse duration seed block directory turns core warmup warmup_limit
        probe_duration bodies_may_differ equivalent expect allow busy_machine noise_rounds].freeze

      # @param options [Hash] of the command
      # @param folder [String] for checkouts, gone when the command ends
      # @param say [#call] told what takes long before the rounds
      # @param given [Array<PumaTuner::Prove::Variant>, nil] in the place of what options declare
      def initialize(options, folder:, say:, given: nil)
        @options = options
        @folder = folder
        @say = say
        @given = given
        @apps = Array(options[:app])
        plan # mistakes are told at once
      end

      # @return [Array<PumaTuner::Prove::Variant>] the baseline first
      def variants
        @variants ||= declared.tap do |list|
          raise UserMistake, "a proof needs two variants at least, the baseline first: --variant, --factor, --variants, --topologies, or two config.ru" if list.size < 2
        end
      end

      # @param kept [PumaTuner::Prove::Journal]
      # @return [PumaTuner::Prove::Proof]
      def proof(kept: PumaTuner::Prove::Rounds::Nothing, **changes)
        PumaTuner::Prove::Proof.new(plan.with(**changes), trial_runner: runner(changes.fetch(:variants, variants)), kept:)
      end

      # @return [Hash{String => Object}] what must be the same for a run to go on; it is kept, without what may be secret
      def same
        {"variants" => variants.map { |variant| [variant.name, Host::Masking.factors(variant.factors)] }, "app" => Host::Masking.words(@apps), "primary" => plan.primary, "looks" => plan.looks.to_s,
         **@options.slice(*SAME).transform_keys(&:to_s), "path" => Array(option(:path)).map { |path| Host::Masking.paths(path) }}
      end

      private

      def option(name) = @options[name]

      def declared
        return PumaTuner::Prove::Declared.checked(@given) if @given
        return PumaTuner::Prove::Declared.parse(option(:variant).split("\n")) if option(:variant)
        return PumaTuner::Prove::Declared.factorial(option(:factor).split("\n")) if option(:factor)
        return PumaTuner::Prove::Declared.read(option(:variants)) if option(:variants)
        return of_topologies if option(:topologies)
        return of_blocks if option(:block)
        (@apps.size > 1) ? of_files : []
      end

      def of_topologies
        seen = Hash.new(0)
        Parse.topologies(option(:topologies)).map do |topology|
          name = ((seen[topology] += 1) > 1) ? "#{topology} again" : topology.to_s
          PumaTuner::Prove::Variant.new(name:, factors: {"topology" => topology.to_s})
        end
      end

      def of_blocks
        PumaTuner::Block::UserFile.names(option(:block), block_command(option(:block))).map { |name| PumaTuner::Prove::Variant.new(name:, factors: {"block" => name}) }
      end

      # Several config.ru are variants by themselves, and so are several Puma configurations.
      def of_files
        kind = {".ru" => "app", ".rb" => "config"}[File.extname(@apps.first)]
        return [] unless kind && @apps.all? { |path| File.extname(path) == File.extname(@apps.first) }
        PumaTuner::Prove::Declared.checked(@apps.map { |path| PumaTuner::Prove::Variant.new(name: path, factors: {kind => File.expand_path(path)}) })
      end

      def plan
        @plan ||= PumaTuner::Prove::Proof::Plan.new(
          variants:, metrics:, primary:, looks:, noise_rounds_count: Parse.count("--noise-rounds", option(:noise_rounds), 0..100),
          equivalent_ratio: Parse.percent("--equivalent", option(:equivalent)),
          expectations:, allowed: PumaTuner::Prove::Factors.allowed(option(:allow).to_s.split("\n")),
          bodies_may_differ: option(:bodies_may_differ), busy_machine: option(:busy_machine), time_limit_s: option(:time) && Parse.time("--time", option(:time)), seed: Parse.count("--seed", option(:seed), 0..2**31), load: trial_load,
          command: Host::Masking.own_command
        )
      end

      def expectations
        PumaTuner::Prove::Expectations.parse(option(:expect).to_s.split("\n"))
          .tap { |wanted| wanted.insist_on(variant_names: variants.drop(1).map(&:name), metrics:) }
      end

      def metrics = option(:block) ? PumaTuner::Prove::Metric::BLOCK : PumaTuner::Prove::Metric::SERVED

      def primary
        name = option(:primary) || (option(:block) && "iterations") || (option(:rate) && "p99") || "throughput"
        return name if metrics.any? { |metric| metric.name == name }
        raise UserMistake, "--primary #{name}: there is #{metrics.map(&:name).join(", ")}"
      end

      def looks
        looks = option(:looks) ? PumaTuner::Prove::Looks.stepwise(Parse.counts("--looks", option(:looks)))
          : PumaTuner::Prove::Looks.fixed(Parse.count("--rounds", option(:rounds), 1..200))
        least = looks.least_rounds_count(variants.size - 1)
        @say.call("with #{variants.size} variants, what holds for all of them together needs #{least} rounds at least: with fewer, none is called better or worse") if looks.rounds_max < least
        looks
      end

      def traffic = @traffic ||= traffic_of(**@options, generator:)

      def generator = PumaTuner::Load::Native.new(core: placement.generator_core)

      def placement = @placement ||= Host::Placement.of(option(:core) && Parse.count("--core", option(:core), 0..1_023))

      def trial_load
        return PumaTuner::Prove::TrialLoad.of_block(duration_ns) if option(:block)
        PumaTuner::Prove::TrialLoad.new(generator: traffic.generator_name, connections_count: traffic.connections_count, arrivals: traffic.arrivals.to_s, duration_ns:)
      end

      def duration_ns = (times.duration_s * Units::NS_PER_S).round

      def times
        PumaTuner::Prove::TrialRunner::Times.new(
          warmup_window_s: Parse.seconds("--warmup", option(:warmup)), warmup_limit_s: Parse.seconds("--warmup-limit", option(:warmup_limit)),
          duration_s: Parse.seconds("--duration", option(:duration)), turns_count: Parse.count("--turns", option(:turns), 1..100), probe_s: Parse.seconds("--probe-duration", option(:probe_duration), least: 0),
          boot_limit_s: boot_limit_s(**@options)
        )
      end

      def runner(variants)
        return block_runner(variants) if option(:block)
        preparation = PumaTuner::Prove::Preparation.new(variants:, command:, rackup:, folder: @folder, say: @say)
        PumaTuner::Prove::TrialRunner.new(preparation:, traffic:, times:, probe: PumaTuner::Measure::LateWindow, placement:)
      end

      def block_runner(variants)
        preparation = PumaTuner::Prove::Preparation.new(variants:, command: block_command(option(:block)), folder: @folder, say: @say)
        PumaTuner::Prove::BlockRunner.new(file: File.expand_path(option(:block)), commands: ->(variant) { preparation.call(variant).command },
          warmup_limit_s: times.warmup_limit_s, duration_s: times.duration_s, boot_limit_s: times.boot_limit_s)
      end

      def command = @command ||= command_of(**@options, app: served)

      def rackup = (File.expand_path(served.first) if served.size == 1 && served.first.end_with?(".ru"))

      # Of several files that are variants, what is started: the first config.ru, or the one in this folder.
      def served
        return @apps if @apps.size < 2 || @given || option(:variant) || option(:factor) || option(:variants) || option(:topologies)
        (File.extname(@apps.first) == ".ru") ? @apps.first(1) : ["config.ru"]
      end
    end
  end
end
