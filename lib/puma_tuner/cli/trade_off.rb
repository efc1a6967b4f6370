# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner yjit, malloc and gc: what a menu of settings does to an app's CPU and memory.
    class TradeOff < Dry::CLI::Command
      # What `prove` is told of all that a menu needs not to ask.
      PROOF = {turns: "8", warmup: "0.7", probe_duration: "0", noise_rounds: "2", equivalent: "2", primary: "cpu_per_request",
               allow: nil, expect: nil, bodies_may_differ: false}.freeze

      def self.declare(command)
        command.include(AppOptions)
        command.include(Proving)
        command.class_eval do
          option :with, type: :array, default: [], desc: "also vary these: #{Tradeoff::Menu::SUBJECTS.join(", ")}; every combination is tried"
          option :topology, desc: "workers x threads, such as 2x3, default: the app's own"
          option :rounds, default: "8", desc: "how often each is measured; an interval needs 6"
          option :duration, default: "6", desc: "seconds of load in each trial; memory is told at its end"
          option :warmup_limit, default: "60", desc: "seconds after which a trial begins though YJIT is still compiling, or CPU per request still falls"
          TrafficOptions.declare(self, :rate, :arrivals)
          option :workers, desc: "for which the memory is estimated, default: as many as run"
          option :memory_limit, desc: "MiB, for all workers together"
          option :busy_machine, type: :flag, default: false, desc: "count rounds though others on the machine hit one variant clearly more than the other"
          option :resume, type: :flag, default: false, desc: "go on where an interrupted run with the same options ended"
          option :output, desc: "file for the study, default: #{self::SUBJECT}.json in the app's tmp/puma_tuner; rounds are kept beside it as they are made"
          option :html, desc: "file for an HTML report with the chart"
        end
      end

      def call(output: nil, html: nil, with: [], workers: nil, memory_limit: nil, resume: false, **options)
        output = Results.path(output, "#{self.class::SUBJECT}.json", err:, **options)
        Output.check_writable(output, html)
        variants = menu([self.class::SUBJECT, *with], **options)
        estimate = {workers_count: workers && Parse.count("--workers", workers, 1..1_000),
                    memory_limit_bytes: memory_limit && Parse.count("--memory-limit", memory_limit, 1..10_000_000) * Units::MIB}
        Host::ScratchFolder.open do |folder|
          prove(plan(variants, folder, options), name: self.class::SUBJECT, output:, resume:) do |verdict|
            Output.keep(Tradeoff::Judge.new(verdict, subject: self.class::SUBJECT, **estimate).call, output, out:, err:, html:)
          end
        end
      end

      private

      def menu(subjects, **) = Tradeoff::Menu.variants(subjects)

      def plan(variants, folder, options)
        given = variants.map { |variant| with_topology(variant, options[:topology]) }
        ProofPlan.new({**PROOF, **options.except(:topology)}, folder:, say: ->(text) { err.puts("  #{text} …") }, given:)
      end

      def with_topology(variant, text) = text ? variant.with(factors: {"topology" => Topology.parse(text).to_s, **variant.factors}) : variant
    end

    # puma_tuner yjit
    class TryYjit < TradeOff
      SUBJECT = "yjit"
      desc "Tell what YJIT brings this app in CPU and costs it in memory, with which limits; the allocator and GC beside it"
      declare(self)
      option :memory, type: :array, default: Tradeoff::Menu::MEMORY_MIB.map(&:to_s), desc: "MiB at which YJIT stops compiling, besides its own"
      option :thresholds, type: :array, default: Tradeoff::Menu::CALL_THRESHOLDS.map(&:to_s), desc: "calls before a method is compiled, besides its own"
      example ["config.ru --requests requests.txt", "--with malloc --workers 8 --memory-limit 4096 -- bundle exec puma"]

      private

      def menu(subjects, memory: [], thresholds: [], **)
        Tradeoff::Menu.variants(subjects, memory_mib: memory.map { |text| Parse.count("--memory", text, 1..2048) },
          call_thresholds: thresholds.map { |text| Parse.count("--thresholds", text, 1..100_000) })
      end
    end

    # puma_tuner malloc
    class TryMalloc < TradeOff
      SUBJECT = "malloc"
      desc "Tell what another allocator, or fewer arenas, brings this app in memory and costs it in CPU"
      declare(self)
      example ["config.ru --requests requests.txt"]
    end

    # puma_tuner gc
    class TryGc < TradeOff
      SUBJECT = "gc"
      desc "Tell what other settings of the garbage collector do to this app's CPU and memory"
      declare(self)
      example ["config.ru --requests requests.txt"]
    end
  end
end
