# frozen_string_literal: true

module PumaTuner
  module Lab
    # The commands `puma_tuner lab …`.
    module CommandLine
      # puma_tuner lab list: what there is to run.
      class List < CLI::Command
        desc "List the labs: published claims that can be measured here"

        def call(**)
          labs = Lab.all
          table = Report::Columns.new(["lab", "<about", "<needs", "quick", "full", "<its gems"])
          labs.each do |lab|
            table << [lab.name, lab.title, needs(lab), expected(lab, quick: true), expected(lab, quick: false),
              installed(lab)]
          end
          out.puts("Labs: published claims, measured on this machine", table.lines, "",
            "  puma_tuner lab setup NAME     installs its gems, the only step that downloads " \
              "(--quick: those of the quick form only)",
            "  puma_tuner lab run NAME       runs it (--quick: fewer variants, wide intervals)")
        end

        private

        def needs(lab)
          pins = lab.gems(quick: false)
          bundles = Lab::Bundle.needed(lab, quick: false)
          rubies = pins.map(&:ruby).uniq
          [(Units.counted(pins.size, "gem") if pins.any?), (Units.counted(bundles.size, "Gemfile") if bundles.any?),
            ("Ruby #{Report::Figures.list(rubies)}" if rubies.any?)].compact.join(", ")
        end

        def expected(lab, quick:)
          seconds = lab.expected_s(quick:)
          (seconds < 90) ? "#{seconds.ceil} s" : "#{seconds.fdiv(60).ceil} min"
        end

        def installed(lab)
          return "installed" if installed?(lab, quick: false)
          installed?(lab, quick: true) ? "for quick" : "not yet"
        end

        def installed?(lab, quick:)
          Lab::Gems.missing(lab.gems(quick:)).empty? && Lab::Bundle.needed(lab, quick:).all?(&:installed?)
        end
      end

      # puma_tuner lab setup: the gems that labs run with.
      class SetUp < CLI::Command
        desc "Install the gems that labs run with, in exact versions and a folder of their own"
        argument :names, "labs, as `puma_tuner lab list` names them", required: false, many: true
        option :all, :flag, "of all labs"
        option :quick, :flag, "only what their quick forms need"
        example ["falsy_cache", "--all --quick"]

        def call(names: [], all: false, quick: false, **)
          unless all || names.any?
            raise UsageError, "name the labs whose gems to install, or say --all; `puma_tuner lab list` lists them"
          end
          labs = all ? Lab.all : names.map { |name| Lab.find(name) }
          # First, as gems may be compiled against what this makes sure of.
          problems = labs.to_h { |lab| [lab, problem_with(lab, say)] }.compact
          install(labs - problems.keys, quick:, say:)
          raise UsageError, problems.map { |lab, problem| "#{lab.name}: #{problem}" }.join("\n") if problems.any?
        end

        private

        # One that lacks something does not keep others from being set up.
        def problem_with(lab, say)
          lab.set_up(say:) if lab.respond_to?(:set_up)
          nil
        rescue UsageError, MeasurementFailed => error
          error.message
        end

        def install(labs, quick:, say:)
          return if labs.empty?
          pins = labs.flat_map { |lab| lab.gems(quick:) }.uniq
          Lab::Gems.install(pins, say:)
          bundles = labs.flat_map { |lab| Lab::Bundle.needed(lab, quick:) }.uniq(&:to_s)
          bundles.each { |bundle| bundle.install(say) }
          of_bundles = " and those of #{Units.counted(bundles.size, "Gemfile")}" if bundles.any?
          out.puts("#{Units.counted(pins.size, "gem")}#{of_bundles} of #{labs.map(&:name).join(", ")}: " \
            "installed in #{Lab::Gems.cache}")
          fetch(labs.flat_map { |lab| Lab::Source.needed(lab, quick:) }.uniq, say)
        end

        # Beside each other: where there is no way to one, half a minute passes until git gives up.
        def fetch(sources, say)
          threads = sources.map { |source| Thread.new { source.fetch(say:) } }
          sources.zip(threads.map(&:value)) { |source, problem| tell(source, problem) }
        end

        # No failure: what labs are mostly about is in gems.
        def tell(source, problem)
          there = "#{Units.counted(source.commits.size, "commit")} in #{source.checkouts}"
          lacking = "can't be had (#{problem}). Without it there is no figure of: #{source.needed_for}."
          out.puts(problem ? "#{source.address} #{lacking}" : "#{source.address}: #{there}")
        end
      end

      # puma_tuner lab run: one lab, from its question to its finding.
      class RunOne < CLI::Command
        desc "Run a lab: measure what was claimed, and hold it against the claim"
        tells_of_an_app
        argument :name, "of the lab, as `puma_tuner lab list` names it"
        option :quick, :flag, "fewer variants and short rounds: wide intervals, in a minute or a few"
        options :verbose, :seed, :html, :markdown, :busy_machine, :resume,
          output: {usual: "tmp/puma_tuner/finding.json", about: "file for the finding, all measured values included; " \
            "until then, what is measured is kept beside it"}
        example ["falsy_cache --quick", "introspection --html introspection.html"]

        def call(name:, seed:, output: nil, quick: false, busy_machine: false, resume: false, html: nil,
          markdown: nil, **)
          lab = Lab.find(name)
          output = CLI::Results.path(output, "finding.json", err:)
          CLI::Output.check_writable(output, html, markdown)
          Lab::Gems.ensure_installed(lab, quick:)
          Lab::Bundle.ensure_installed(lab, quick:)
          options = {quick:, seed: seed, busy_machine: quick || busy_machine}
          keeping(kept_of(lab, "#{output}.parts", resume, options)) do |kept|
            finding = progress.stage(name, lab.expected_s(quick:)) { |stage| found(lab, stage, kept:, **options) }
            CLI::Output.write(finding, **telling, path: output, html:)
            write_summary(finding, markdown) if markdown
          end
        end

        private

        def found(lab, stage, **options)
          lab.call(Lab::Run.new(lab, say: ->(text) { stage.note(text) },
            command: Host::Masking.own_command(ARGV - ["--resume"]), **options))
        end

        # @return [Lab::Kept, Module] Nothing of the quick form
        def kept_of(lab, folder, resume, options)
          if resume && options.fetch(:quick)
            raise UsageError, "--resume: --quick saves no rounds to resume; leave out one of them"
          end
          return Lab::Kept::Nothing if options.fetch(:quick)
          there = Dir.exist?(folder)
          if resume && !there
            raise UsageError, "--resume: there is nothing to resume, as #{folder} does not exist; leave it out"
          end
          if there && !resume
            raise UsageError, "#{folder} holds an interrupted run: continue it with --resume, " \
              "remove it, or give another --output"
          end
          Lab::Kept.of(lab, folder, **options)
        end

        # Whatever ends it: hours of rounds are not lost.
        def keeping(kept)
          yield kept
          kept.remove
          finished = true
        ensure
          if kept.any? && !finished
            err.puts("\npuma_tuner: what was measured is kept; continue with: #{CLI::Proving.resumed}")
          end
        end

        def write_summary(finding, path)
          CLI::Output.write_file(path, Report.render(finding, format: :markdown))
          err.puts("summary: #{File.expand_path(path)}")
        end
      end

      # puma_tuner lab keep: what stays of a run in the repository.
      class Keep < CLI::Command
        desc "Keep a lab's finding beside its README, and write it into that page"
        argument :path, "of a finding, as `puma_tuner lab run` writes it"
        example ["tmp/puma_tuner/finding.json"]

        def call(path:, **)
          finding = Document.read(path, :finding)
          readme = Lab::Readme.new(Lab.find(finding.lab))
          readme.keep(finding)
          out.puts("kept: #{readme.kept}", "written: #{readme.path}")
        end
      end
    end
  end
end
