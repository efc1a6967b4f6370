# frozen_string_literal: true

module PumaTuner
  module CLI
    # The words of `prove` as a proof: what is compared, by what, how often.
    class ProofPlan
      # Options that make trials what they are, and those by which they are
      # judged: who has seen rounds must not change these.
      SAME = %i[path requests data connections rate arrivals think reuse duration seed block directory copy turns core
        warmup_window warmup_limit probe_duration bodies_may_differ equivalent expect allow busy_machine
        noise_rounds precision].freeze

      # @param looks [Prove::Looks]
      # @param variants [Array<Prove::Variant>] the baseline first
      # @return [String, nil] that so few rounds show nothing, however large a difference is
      def self.too_few(looks, variants)
        least_count = looks.least_rounds_count(variants.size - 1)
        return if looks.rounds_max >= least_count
        "#{variants.size} variants need at least #{least_count} rounds: with fewer, nothing can be significant after " \
          "correcting for multiple comparisons"
      end

      # @param options [Hash] of the command
      # @param folder [String] for checkouts, gone when the command ends
      # @param say [#call] told what takes long before the rounds
      # @param given [Array<Prove::Variant>, nil] in the place of what options declare
      def initialize(options, folder:, say:, given: nil)
        @options = options
        @folder = folder
        @say = say
        @apps = Options::App.from(options).words
        @given = given
        refuse_contradictions
        @setup = options[:block] ? of_block : served # mistakes are told at once, before anything is kept
      end

      # @return [Prove::Setup]
      attr_reader :setup

      # @return [Hash{String => Object}] what must be the same for a run to go
      #   on; it is kept, without what may be secret
      def same
        {"variants" => variants.map { |variant| [variant.name, Host::Masking.factors(variant.factors)] },
         "app" => Host::Masking.words(@apps), "primary" => setup.plan.primary, "looks" => setup.plan.looks.to_s,
         **@options.slice(*SAME).transform_keys(&:to_s),
         "path" => Array(option(:path)).map { |path| Host::Masking.paths(path) }}
      end

      private

      # @return [Array<Prove::Variant>] the baseline first
      def variants
        @variants ||= declared.tap do |list|
          if list.size < 2
            raise UsageError, "a proof needs at least two variants, the baseline first. Possible ways to give them: " \
              "--variant, --factor, " \
              "--variants, --topologies, or two config.ru"
          end
        end
      end

      def option(name) = @options[name]

      # @return [Boolean] whether one that may be given again is given
      def given?(name) = option(name).to_a.any?

      # Each names all variants by itself.
      WAYS = %i[variant factor variants topologies].freeze
      private_constant :WAYS

      # Otherwise one of them would be left aside without a word.
      def refuse_contradictions
        ways = WAYS.select { |name| Array(option(name)).any? }
        if ways.size > 1
          raise UsageError, "--#{ways.first} and --#{ways[1]} both say what is compared; leave one out"
        end
        return unless option(:looks) && option(:rounds) != Commands::Prove.declared.fetch(:rounds).without_it
        raise UsageError, "--rounds and --looks both say how many rounds there are; leave one out"
      end

      def declared
        return @given if @given
        return Prove::VariantParser.parse(option(:variant)) if given?(:variant)
        return Prove::VariantParser.factorial(option(:factor)) if given?(:factor)
        return Prove::VariantParser.read(option(:variants)) if option(:variants)
        return of_topologies if option(:topologies)
        return of_blocks if option(:block)
        (@apps.size > 1) ? of_files : []
      end

      def of_topologies
        seen = Hash.new(0)
        option(:topologies).map do |topology|
          name = ((seen[topology] += 1) > 1) ? "#{topology} again" : topology.to_s
          Prove::Variant.new(name:, factors: {"topology" => topology.to_s})
        end
      end

      def of_blocks
        Block::UserFile.names(option(:block), Options::App.block_command(option(:block))).map do |name|
          Prove::Variant.new(name:, factors: {"block" => name})
        end
      end

      # Several config.ru are variants by themselves, and so are several Puma configurations. `~/a.rb`, which no shell
      # has seen, is found where variants' files are looked for; there `~name` of a user who is not there is told, too.
      def of_files
        kind = {".ru" => "app", ".rb" => "config"}[File.extname(@apps.first)]
        return [] unless kind && @apps.all? { |path| File.extname(path) == File.extname(@apps.first) }
        @apps.map do |path|
          Prove::Variant.new(name: path, factors: {kind => path.start_with?("~") ? path : File.expand_path(path)})
        end
      end

      def served
        judged = rules # its mistakes come first, as nothing must be at hand to tell them
        preparation = Prove::Preparation.new(variants:, command:, rackup:, folder: @folder, copied:, say: @say)
        beside = @given ? %w[p99] : [] # which a trade-off shows
        Prove::Setup.served(variants, preparation:, traffic:, times:, placement:, beside:, **judged)
      end

      def of_block
        command = Options::App.block_command(option(:block))
        preparation = Prove::Preparation.new(variants:, command:, folder: @folder, copied:, say: @say)
        limits = {duration_s: option(:duration), warmup_limit_s: option(:warmup_limit),
                  boot_limit_s: option(:boot_limit)}
        Prove::Setup.block(variants, file: File.expand_path(option(:block)), limits:,
          commands: ->(variant) { preparation.call(variant).command }, **rules)
      end

      # @return [Array<String>]
      def copied
        files = option(:copy).to_a
        if files.any? && variants.none? { |variant| variant.factors["git"] }
          raise UsageError, "--copy #{files.join(",")} is for checkouts, and no variant has a git="
        end
        files
      end

      # Returns what is judged, and by what.
      def rules
        {
          primary:, looks:, expectations:, noise_rounds_count: option(:noise_rounds),
          equivalent_ratio: option(:equivalent), allowed: Prove::Factors.allowed(option(:allow).to_a),
          precision_ratio:, precise_metrics: option(:precise_metrics),
          bodies_may_differ: option(:bodies_may_differ) || false, busy_machine: option(:busy_machine),
          time_limit_s: option(:time), seed: option(:seed), command: Host::Masking.own_command
        }
      end

      def precision_ratio
        ratio = option(:precision) or return
        raise UsageError, "--precision 0: write percent above 0, such as 2" if ratio.zero?
        if option(:looks)
          raise UsageError, "--precision and --looks both say when to stop: give one, and with --precision the most " \
            "rounds by --rounds"
        end
        ratio
      end

      def expectations
        Prove::Expectations.parse(option(:expect).to_a)
          .tap { |wanted| wanted.ensure_known(variant_names: variants.drop(1).map(&:name), metrics:) }
      end

      def metrics = option(:block) ? Prove::Metric::BLOCK : Prove::Metric::SERVED

      def primary
        name = option(:primary) || (option(:block) && "iterations") || (option(:rate) && of_open_loop) || "throughput"
        metric = Prove::Metric.named(name, metrics) or
          raise UsageError, "--primary #{name}: choose one of #{Prove::Metric.choice(metrics)}"
        ensure_told(metric)
        ensure_enough_requests(metric)
        metric.name
      end

      # Metrics of a served app that only Linux tells, beside the server's processes.
      OF_PROCESSES = %w[cpu_per_request pss rss].freeze
      private_constant :OF_PROCESSES

      # Before rounds of which none could tell what decides.
      def ensure_told(metric)
        return if option(:block) || !OF_PROCESSES.include?(metric.name) || Probe::Processes.told?
        raise UsageError, "#{metric.label} is what Linux tells of a server's processes in /proc, which is not here; " \
          "`prove` can decide by throughput, or by a percentile such as --primary p90"
      end

      def of_open_loop = Prove::Metric.of_open_loop(open_arrivals, option(:duration))

      def open_arrivals = Load::Arrivals.open(option(:rate), kind: option(:arrivals) || "poisson")

      # Before hours of rounds whose trials can't tell.
      def ensure_enough_requests(metric)
        return if !option(:rate) || option(:block)
        least_count = open_arrivals.least_count(option(:duration))
        return if least_count >= metric.least_requests_count
        # A percentile that one request tells is known of nearly every trial that expects some.
        return if metric.least_requests_count == 1 && option(:rate) * option(:duration) >= 1
        wanted = Units.counted(metric.least_requests_count, "request")
        raise UsageError, "#{metric.label} takes #{wanted} in each trial, and " \
          "#{Units.significant(option(:rate))}/s may make no more than #{least_count} in " \
          "#{Units.significant(option(:duration))} s: give a longer --duration, or another --primary"
      end

      def looks
        looks = option(:looks) ? Prove::Looks.stepwise(option(:looks))
          : Prove::Looks.fixed(option(:rounds))
        ProofPlan.too_few(looks, variants)&.then { |text| @say.call(text) }
        looks
      end

      def traffic = @traffic ||= Options::Traffic.from(@options).traffic(generator:)

      def generator = Load::Native.new(core: placement.generator_core)

      def placement = @placement ||= Host::Placement.of(option(:core))

      def times
        Prove::TrialRunner::Times.new(
          warmup_window_s: option(:warmup_window), warmup_limit_s: option(:warmup_limit), duration_s: option(:duration),
          turns_count: option(:turns),
          probe_s: option(:probe_duration), boot_limit_s: option(:boot_limit)
        )
      end

      def command = @command ||= Options::App.from((started == @apps) ? @options : {**@options, app: started}).command

      def rackup = (File.absolute_path(started.first) if started.size == 1 && started.first.end_with?(".ru"))

      # Returns what is started where several files are variants: the first config.ru, or that of the app's folder.
      def started
        if @apps.size < 2 || @given || given?(:variant) || given?(:factor) || option(:variants) || option(:topologies)
          return @apps
        end
        (File.extname(@apps.first) == ".ru") ? @apps.first(1) : Options::App.from({**@options, app: []}).words
      end
    end
  end
end
