# frozen_string_literal: true

%w[options journal measurement page].each { |name| require_relative name }

module Validation
  # A whole run: measures what is missing, predicts, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/validation.md", __dir__)

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
      raise PumaTuner::UserMistake, "no cell is called that; --list tells their names" if @options.cells.empty?
      unless @options.recompute
        puts @schedule.lines
        return 0 if @options.list
        measure
      end
      raise PumaTuner::UserMistake, "nothing has been measured yet" unless @journal.run
      conclude
    end

    private

    def measure
      begin_run unless @journal.run
      began_s = now_s
      whole_s = @schedule.expected_s
      say = ->(text) { warn format("validate, %.1f of about %.1f min: %s", (now_s - began_s) / 60, whole_s / 60, text) }
      @measurement.new(journal: @journal, schedule: @schedule, form: @options.form, say:).call
    rescue Interrupt
      kept_count = @options.cells.count { |cell| @journal.starts(cell).any? }
      warn "validate: #{kept_count} of #{@options.cells.size} cells are kept in #{@folder}; the same command goes on from there, --recompute shows what there is"
      raise
    end

    def begin_run
      @journal.add("kind" => "run", "layout" => Journal::LAYOUT, "commit" => Provenance::COMMIT, "at" => Time.now.utc.strftime("%F %H:%M UTC"), "ruby" => RUBY_DESCRIPTION,
        "turns_per_ms" => Speed.best.round, "machine" => PumaTuner::Probe::MachineFacts.read.to_document.transform_keys(&:to_s))
    end

    def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

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
      File.write(PAGE, page.to_s) if @options.write
      status(verdicts)
    end

    # Whoever looks twice has seen them before.
    def look
      @journal.add("kind" => "look", "key" => @journal.looks.size, "at" => Time.now.utc.strftime("%F %H:%M UTC"), "commit" => Provenance::COMMIT)
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
    rescue PumaTuner::UserMistake => error
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
      undisturbed = judged.select { |comparison| comparison.cell.subject.workload.made? && !comparison.disturbed }
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
    rescue PumaTuner::UserMistake => error
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
