# frozen_string_literal: true

# Predictions against a real Puma under real load, over a grid of workloads, settings, loads, Rubies and Pumas, and on applications that nobody
# here wrote (labs/real_apps; those that are not installed are told as missing). Ends with status 1 when they miss one of their targets, with 3 when not all could be measured, or too
# noisily to tell.
#
#   bin/exec rake validate QUICK=1    (some ten minutes; of any use only on a machine with nothing else to do)
#   bin/exec rake validate MEDIUM=1   (about an hour: the classes of work and the real applications, a few cells of each)
#   bin/exec rake validate            (a day)
#
# All go on where they were interrupted: what has been measured is kept.

require_relative "support/bench"
%w[grid schedule measurement judge page].each { |name| require_relative "validate/#{name}" }

module Validation
  # form: of Grid::FORMS; workloads: names; pattern: of cells' keys, nil for all; recorded_at: Array<RecordedAt>, nil: as the grid has it
  # held_out: whether the cells that are put aside are judged; generator: "native" or "wrk"
  Options = Bench::Options.define("validate", page: "docs/measured/validation.md", needs: "all workloads and cells, by our generator", form: :full, everything: false, workloads: Workloads::NAMES,
    pattern: nil, recorded_at: nil, held_out: false, generator: "native", fresh: false, again: false, recompute: false, list: false) do |parser, given|
    parser.on("--quick", "made workloads, #{Grid.cells(:quick).size} cells in some ten minutes; QUICK=1 is the same") { given[:form] = :quick }
    parser.on("--medium", "made workloads to pick from, locks, hand-over and real applications,",
      "#{Grid.cells(:medium).size} cells in about an hour; MEDIUM=1 is the same") { given[:form] = :medium }
    parser.on("--every-combination", "the whole grid with each Ruby, Puma and time slice: days") { given[:everything] = true }
    parser.on("--only A,B", Array, "some of #{Workloads::NAMES.join(",")}, or a class: #{Workloads::KINDS.keys.join(",")}") { |names| given[:workloads] = known(workloads_of(names), Workloads::NAMES) }
    parser.on("--cells PATTERN", "cells whose key matches, e.g. 'a/3.4/8.0/100/1x*/closed-*'") { |pattern| given[:pattern] = pattern }
    parser.on("--recorded-at A,B", Array, "settings of the recordings, e.g. 1x1,1x5+companions (default: by the class of work); errors are told of each") do |texts|
      given[:recorded_at] = texts.map { |text| RecordedAt.parse(text) }
    end
    parser.on("--generator NAME", %w[native wrk], "native or wrk; wrk: measure real applications by it, so that the truth shares no code with us") { |name| given[:generator] = name }
    parser.on("--held-out", "judge those cells of real applications, too, that are put aside (#{Grid::HELD_OUT_SETTINGS.join(", ")}): once, at the end; the page says who looked") { given[:held_out] = true }
    parser.on("--fresh", "begin anew; without it, what has been measured before is not measured again") { given[:fresh] = true }
    parser.on("--again", "measure those cells again that failed or that others on the machine disturbed") { given[:again] = true }
    parser.on("--recompute", "measure nothing: predict anew what has been measured") { given[:recompute] = true }
    parser.on("--list", "say what would be measured and how long it takes, and end") { given[:list] = true }
  end

  class Options
    # A class of work stands for all its workloads.
    def self.workloads_of(names)
      names.flat_map { |name| Workloads::KINDS.key?(name) ? Workloads::ALL.select { |workload| workload.kind == name }.map(&:name) : [name] }
    end
    private_class_method :workloads_of

    def initialize(fresh:, recompute:, **)
      raise OptionParser::InvalidArgument, "--fresh throws away what --recompute is about" if fresh && recompute
      super
    end

    # @return [Array<Cell>] to measure
    def cells = narrowed((generator == "wrk") ? Grid.by_wrk : Grid.cells(form, everything:))

    # @return [Array<Cell>] to tell of, where they have been measured
    def told_cells = narrowed([*Grid.cells(form, everything:), *Grid.by_wrk])

    # @return [Array<String>] classes of work that are asked for, in the page's order
    def kinds = Workloads::KINDS.keys & cells.map { |cell| cell.subject.workload.kind }

    # @return [String] of the grid, and of the folder that holds what was measured
    def grid_name = form.to_s

    # @return [String] to repeat it
    def command
      variable = (form == :full) ? "" : " #{form.upcase}=1"
      options = [("--every-combination" if everything), ("--held-out" if held_out)].compact.join(" ")
      "bin/exec rake validate#{variable}#{" OPTIONS=\"#{options}\"" unless options.empty?}"
    end

    # @return [Boolean] whether it is a grid without anything left out
    def whole? = pattern.nil? && workloads == Workloads::NAMES && generator == "native"

    private

    def narrowed(cells)
      cells.select { |cell| workloads.include?(cell.subject.workload_name) && (pattern.nil? || File.fnmatch(pattern, cell.key, File::FNM_EXTGLOB)) }
    end
  end

  # A whole run: measures what is missing, predicts, prints, judges.
  class Suite
    # @param options [Options]
    # @param folder [String] for what is measured
    # @param measurement [#new] of what measures
    def initialize(options, folder: File.join(Journal::FOLDER, options.grid_name), measurement: Measurement)
      @measurement = measurement
      @options = options
      @folder = folder
      @journal = Journal.new(folder, fresh: options.fresh && !options.list)
      @schedule = Schedule.new(cells: options.cells, form: options.form, recorded_at: options.recorded_at, journal: @journal, again: options.again)
    end

    # Exit codes, as `puma_tuner` has them.
    MISSED = 1
    UNMEASURED = 3

    # @return [Integer] the exit status: 3 when a cell that was asked for could not be measured, as then the targets are not
    #   judged on all of them; else 1 when a target is missed; else 3 when noise leaves open whether one is met
    def run
      raise PumaTuner::UsageError, "no cell is called that; --list tells their names" if @options.cells.empty?
      unless @options.recompute
        puts @schedule.lines
        return 0 if @options.list
        measure
      end
      raise PumaTuner::UsageError, "nothing has been measured yet" unless @journal.run
      conclude
    end

    private

    def measure
      begin_run unless @journal.run
      began_s = PumaTuner::Clock.now_s
      whole_s = @schedule.expected_s
      say = ->(text) { warn format("validate, %.1f of about %.1f min: %s", (PumaTuner::Clock.now_s - began_s) / 60, whole_s / 60, text) }
      @measurement.new(journal: @journal, schedule: @schedule, form: @options.form, say:).call
    rescue Interrupt
      kept_count = @options.cells.count { |cell| @journal.starts(cell).any? }
      warn "validate: #{kept_count} of #{@options.cells.size} cells are kept in #{@folder}; the same command goes on from there, --recompute shows what there is"
      raise
    end

    def begin_run
      @journal.add("kind" => "run", "layout" => Journal::LAYOUT, "commit" => Bench::Provenance::COMMIT, "at" => Time.now.utc.strftime("%F %H:%M UTC"), "ruby" => RUBY_DESCRIPTION,
        "turns_per_ms" => Speed.best.round, "machine" => PumaTuner::Probe::MachineFacts.read.to_document.transform_keys(&:to_s))
    end

    def conclude
      look if @options.held_out
      all = comparisons
      told = all.reject { |comparison| Grid.held_out?(comparison.cell) && !@options.held_out }
      judged = Judge.judged(told)
      # Settings that are held out have been measured, too, and can be the best.
      verdicts = Judge.verdicts(judged, kinds: @options.kinds, picks: Picks.of(Judge.judged(all)))
      page = Page.new(facts: @journal.run, options: @options, comparisons: told, judged:, of_picks: all, corrected: corrected(judged), verdicts:, unmeasured:,
        calibrated_at:, twins:, looks: @journal.looks)
      puts page.results
      File.write(File.join(Bench::PROJECT, Options.page), page.to_s) if @options.write
      status(verdicts)
    end

    # Whoever looks twice has seen them before.
    def look
      @journal.add("kind" => "look", "key" => @journal.looks.size, "at" => Time.now.utc.strftime("%F %H:%M UTC"), "commit" => Bench::Provenance::COMMIT)
    end

    # Of a grid that was narrowed, a target may have nothing that it is about.
    def status(verdicts)
      return UNMEASURED if unmeasured.any? || (@options.whole? && verdicts.any?(&:unmeasured?))
      return MISSED if verdicts.any?(&:missed?)
      verdicts.any?(&:noisy?) ? UNMEASURED : 0
    end

    # What a user gets: the forecasts of each recording, for the load that there was.
    # @return [Array<Comparison>]
    def comparisons
      @options.told_cells.group_by(&:subject).flat_map do |subject, cells|
        measured = cells.to_h { |cell| [cell, measured(cell)] }.compact
        measured.empty? ? [] : @schedule.predicted_from(subject).flat_map { |at| predict(subject, at, measured) }
      end
    end

    # @param measured [Hash{Cell => Measured}]
    def predict(subject, at, measured)
      predictor = Predictor.of(@journal, subject, at) or return []
      void = @journal.disturbed(Schedule.recording_name(subject, at)) || @journal.disturbed(Schedule.recording_name(subject, at.with(companions: true)))
      same, others = measured.partition { |cell, _| cell.level.same_clients? }
      [*others.map { |cell, of_cell| comparison(cell, of_cell, Recorded.new(at:, void:)) { predictor.of(cell, of_cell) } },
        *same.group_by { |_, of_cell| of_cell.connections_count }.flat_map { |connections_count, pairs| predict_together(predictor, connections_count, pairs, Recorded.new(at:, void:)) }]
    rescue PumaTuner::UsageError, PumaTuner::MeasurementFailed => error
      measured.map { |cell, of_cell| Comparison.new(cell:, measured: of_cell, forecast: nil, recorded: Recorded.new(at:, void:), failure: Reason.of(error)) }
    end

    # One sweep, as `tune` makes it: with what it recommends, and what it says of itself.
    def predict_together(predictor, connections_count, pairs, recorded)
      sweep = predictor.sweep(pairs.map { |cell, _| cell.topology }.uniq, connections_count)
      recorded = recorded.with(advised: predictor.advised(sweep), self_check: (sweep.self_check if sweep.respond_to?(:self_check)))
      pairs.map { |cell, of_cell| Comparison.new(cell:, measured: of_cell, forecast: sweep.at(cell.topology), recorded:) }
    end

    # The made ones that nobody disturbed, for the machine as fast as it was meanwhile: what is left is the model's.
    # @param judged [Array<Comparison>]
    def corrected(judged)
      undisturbed = judged.select { |comparison| comparison.cell.subject.workload.made? && !comparison.disturbed && comparison.forecast }
      undisturbed.group_by { |comparison| [comparison.cell.subject, comparison.recorded.at] }.flat_map do |(subject, at), of_recording|
        predictor = Predictor.of(@journal, subject, at)
        recorded_turns_per_ms = @journal.recorded_turns_per_ms(Schedule.recording_name(subject, at))
        of_recording.map do |known|
          comparison(known.cell, known.measured, known.recorded) do
            predictor.on_a_machine(slower_ratio(known.cell, known.measured, predictor, recorded_turns_per_ms)).of(known.cell, known.measured)
          end
        end
      end
    end

    # @return [Array<Twins::Pair>] of what was recorded side by side with its cells
    def twins
      @options.cells.group_by(&:subject).reject { |subject, _| subject.workload.made? }.flat_map do |subject, cells|
        measured = cells.to_h { |cell| [cell.topology, measured(cell)] }.compact
        observations = @schedule.recorded_at(subject).filter_map { |at| Predictor.observation(@journal, subject, at) }
        observations.flat_map { |observation| Twins.of(subject, observation, measured) }.uniq(&:topology)
      end
    end

    # @return [Measured, nil]
    def measured(cell)
      starts = @journal.starts(cell)
      Measured.new(starts).then { |measured| measured unless measured.failure } if starts.any?
    end

    def comparison(cell, measured, recorded)
      Comparison.new(cell:, measured:, forecast: yield, recorded:)
    rescue PumaTuner::UsageError, PumaTuner::MeasurementFailed => error
      Comparison.new(cell:, measured:, forecast: nil, recorded:, failure: Reason.of(error))
    end

    # How much longer the machine took for the same work than while it was recorded. By the work itself where that is a fixed number
    # of turns of a loop; else by the loop beside it, which runs on another core's other half at times.
    def slower_ratio(cell, measured, predictor, recorded_turns_per_ms)
      return recorded_turns_per_ms / measured.turns_per_ms unless cell.subject.workload.fixed_work? && measured.cpu
      measured.cpu.value / predictor.recorded_cpu_ns
    end

    # @return [Hash{String => String}] what was asked for and not measured, subjects or cells, with the reason
    def unmeasured
      @unmeasured ||= @options.cells.group_by(&:subject).flat_map { |subject, cells|
        absence = @journal.absence(subject)
        absence ? [[subject.key, absence]] : cells.filter_map { |cell| reason_unmeasured(cell)&.then { |reason| [cell.key, reason] } }
      }.to_h
    end

    # Recordings come before cells, so a cell that is there has one.
    def reason_unmeasured(cell)
      starts = @journal.starts(cell)
      starts.any? ? Measured.new(starts).failure : "it has not been measured yet"
    end

    # @return [Array<String>, nil] when the machine was calibrated, for each Ruby and Puma; nil where it was not for one of them
    def calibrated_at
      recordings = @schedule.subjects.filter_map { |subject| Predictor.observation(@journal, subject, @schedule.recorded_at(subject).first) }
      machines = recordings.map { |observation| Predictor.machine_name(observation) }.uniq.map { |name| @journal.document(name) }
      machines.map { |machine| machine.calibrated.calibrated_at } if machines.all?
    end
  end
end

if File.identical?(__FILE__, $PROGRAM_NAME)
  %w[quick medium].each { |form| ARGV.unshift("--#{form}") if ENV[form.upcase] == "1" }
  Bench.ending("validate") { Validation::Suite.new(Validation::Options.parse(ARGV)).run }
end
