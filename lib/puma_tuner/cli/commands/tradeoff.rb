# frozen_string_literal: true

module PumaTuner
  module CLI
    # Measures what a menu of settings does to an app's CPU and memory.
    class Commands::Tradeoff < Command
      include Proving

      # A menu need not ask for these, so the proof is told them.
      PROOF = {turns: 8, warmup_window: 0.7, probe_duration: 0.0, noise_rounds: 2, equivalent: 0.02,
               primary: "cpu_per_request", precise_metrics: %w[cpu_per_request pss]}.freeze

      desc "Measure what YJIT, another allocator, or other GC settings gain in CPU and cost in memory, " \
        "or the other way round", hint: Options::App::HINT
      tells_of_an_app
      argument :subjects, "yjit, malloc or gc; of several, such as yjit,malloc, every combination is tried",
        choices: Tradeoff::Menu::SUBJECTS
      argument :app, Options::App::ABOUT, required: false, many: true
      options :verbose, :path, :requests, :rate, :html, :directory, :boot_limit, :topology, :data, :arrivals, :seed,
        :for_workers, :memory, :busy_machine, :resume, :precision, :cross,
        rounds: {usual: "8, or one more than it takes to show anything of so many settings"},
        connections: Options::Traffic::USUAL_CONNECTIONS,
        duration: {default: "6", about: "how long each trial measures; memory is measured at its end"},
        warmup_limit: {default: "60", about: "when to start a trial although YJIT is still compiling, " \
        "or CPU per request still falls"},
        yjit_memory: Tradeoff::Menu::MEMORY_MIB.join(","), thresholds: Tradeoff::Menu::CALL_THRESHOLDS.join(","),
        output: {usual: "SUBJECT.json in the app's tmp/puma_tuner; finished rounds are saved beside it"}
      renamed workers: :for_workers, with: "name several subjects instead: puma_tuner tradeoff yjit,malloc"
      example [
        "yjit --requests requests.txt",
        "yjit --cross --precision 2 --rounds 60 --requests requests.txt",
        "yjit,malloc --for-workers 8 --memory 4GiB -- bundle exec puma",
        "gc config.ru --topology 1x5"
      ]

      def call(subjects:, output:, html:, for_workers:, memory:, yjit_memory:, thresholds:, cross:, resume:, **options)
        subjects = subjects.split(",")
        name = subjects.first
        variants = Tradeoff::Menu.variants(subjects, memory_mib: yjit_memory, call_thresholds: thresholds, cross:)
        output = Results.path(output, "#{name}.json", err:, **options)
        Output.check_writable(output, html)
        estimate = {workers_count: for_workers, memory_limit_bytes: memory}
        Host::ScratchFolder.open do |folder|
          beside = Results.beside(output, "#{name}.json", err:, **options)
          verdict = prove(plan(variants, folder, options), name:, output: beside, resume:) do |proven|
            Output.write(Tradeoff::Judge.new(proven, subject: name, **estimate).call, **telling, path: output, html:)
          end
          raise Exit.new(3) unless verdict.complete
        end
      end

      private

      def plan(variants, folder, options)
        topology = options[:topology]
        if topology
          variants = variants.map { |variant| variant.with(factors: {"topology" => topology.to_s, **variant.factors}) }
        end
        rounds = options[:rounds] || Prove::Looks.usual(variants.size - 1).rounds_max
        ProofPlan.new({**PROOF, **options, rounds:}, given: variants, folder:, say:)
      end
    end
  end
end
