# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # How the rounds went and what their verdict rests on: the conditions, and all that speaks against it.
      class Methodology < Base
        # At the end of a condition's name.
        UNITS = /_(ratio|ns|bytes|count)\z/

        # Names that need more words than are in them.
        LABELS = {
          "run_queue_wait_ratio" => "waiting for a core", "pressure_ratio" => "CPU pressure",
          "foreign_cpu_ratio" => "used by others", "stolen_ratio" => "taken by the hypervisor",
          "generator_cpu_ratio" => "the generator's core", "lag_p99_ns" => "the generator's lag (p99)",
          "in_flight_ratio" => "requests in flight, of the connections", "yjit_code_ratio" => "YJIT's memory"
        }.freeze
        private_constant :UNITS, :LABELS

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @contents = contents
          @verdict = contents.verdict
        end

        # @return [Blocks::Section]
        def section
          rows = {**table, "void rounds" => voids, "not steady" => unsteady, "remarks" => remarks}
          Section.new(id: "how-measured", title: "Methodology of the proof", brief: :never, open: false,
            blocks: [Labelled.new(rows), *noise])
        end

        # @return [Hash{String => String}] in the order of what happened
        def table
          {
            "rounds" => "#{rounds}.", "load" => load, "warm-up" => warmup, "void" => void, "failures" => failures,
            "decided" => decided, "stopped" => Statements.words(@verdict.stopped_because),
            "machine" => machine, "others" => others, "meanwhile" => meanwhile, "started" => @verdict.started_at
          }.compact
        end

        # @return [Array<String>] rounds that were run again, with their reasons
        def voids
          @contents.attempts.filter_map do |trials|
            reasons = trials.select(&:void).map { |trial| "#{trial.variant}: #{Statements.words(trial.void.detail)}" }
            "round #{trials.first.round + 1}, #{reasons.join("; ")}" if reasons.any?
          end
        end

        # @return [Array<String>] trials that were measured before they were warm, as far as anybody can tell
        def unsteady
          warmed.reject { |trial| trial.warmup.steady }.map do |trial|
            "round #{trial.round + 1}, #{[trial.variant, *trial.warmup.reason].join(": ")}"
          end
        end

        # @return [Array<String>] of the variants, each once
        def remarks
          told = @contents.cells
            .flat_map { |cell| cell.remarks.map { |remark| [Statements.words(remark), cell.variant] } }
          of_variants = told.group_by(&:first).map { |remark, pairs| "#{Figures.list(pairs.map(&:last))}: #{remark}" }
          of_variants + @verdict.remarks.map { |remark| Statements.words(remark) }
        end

        private

        # How far apart two equal variants came; none where nobody looked.
        def noise
          return [] if @verdict.noise.to_a.empty?
          columns = [Column.new("noise: A/A test", length: 30), Column.new("ratio", :ratio),
            Column.new("of a pair", :percent, "standard deviation of one pair's ratio"),
            Column.new("MDE", :percent, "minimum detectable effect: the smallest change the planned rounds can detect")]
          rows = @verdict.noise.map do |noise|
            Row.new([@contents.metric(noise.metric).label, noise.ratio, noise.sd_ratio, noise.mde_ratio])
          end
          [Table.new(columns, rows, style: "noise"),
            Note.new("A/A test: the baseline against itself, before the rounds. Of a pair: standard deviation of one " \
              "pair's ratio. MDE (minimum detectable effect): the smallest change the planned rounds detect with 80% " \
              "power.")]
        end

        def trials = @trials ||= @verdict.valid_trials

        def warmed = trials.select(&:warmup)

        def rounds
          counts = trials.select { |trial| trial.position.zero? }.map(&:variant).tally
          first = @contents.cells.map { |cell| "#{cell.variant} #{counts.fetch(cell.variant, 0)}" }
          "#{Figures.counted(@verdict.rounds_count, "round")} of #{Figures.counted(@verdict.cells.size, "variant")}, " \
            "each in a fresh process, in shuffled order (seed #{@verdict.seed})" \
            "#{"; first in a round: #{Figures.list(first)}" if trials.any?}"
        end

        def load
          load = @verdict.load or return
          connections = Figures.counted(load.connections_count, "connection") if load.connections_count
          sent = [load.arrivals, connections, load.generator && "by #{load.generator}"].compact.join(", ")
          "#{[*(sent unless sent.empty?), "#{Units.duration(load.duration_ns)} in each trial"].join("; ")}."
        end

        def warmup
          return if warmed.empty?
          how_many = "#{Figures.counted(unsteady.size, "trial")} of #{warmed.size} not steady then"
          how_many = "all #{warmed.size} trials were steady then" if unsteady.empty?
          requests_count, duration_ns = %i[requests_count duration_ns].map do |field|
            Stats::Quantile.of(warmed.map { |trial| trial.warmup.public_send(field) || 0 }.sort, 0.5)
          end
          "Median #{Figures.count(requests_count.round)} #{@contents.noun}s in #{Units.duration(duration_ns)}; " \
            "#{how_many}."
        end

        def void
          return "No trial was void." if @verdict.voided_count.zero?
          "#{Figures.counted(@verdict.voided_count, "trial")} void; their rounds were run again."
        end

        def failures
          return if @verdict.failures.empty?
          told = @verdict.failures.map do |one|
            "#{one.variant} in #{Figures.counted(one.attempts_count, "round")} of #{one.all_count} " \
              "(#{Statements.words(one.reason)})#{", clearly more than the baseline" if one.clearly_more}"
          end
          "Failed: #{told.join("; ")}."
        end

        # How noisy the machine was, and what that cost.
        def others
          disturbed = @verdict.disturbed or return
          taken = Figures.with_range(disturbed.taken_ratio) { |ratio| Units.percent(ratio) }
          if disturbed.again_count.positive?
            again = "; #{Figures.counted(disturbed.again_count, "round")} in which they hit one variant clearly more " \
              "#{(disturbed.again_count == 1) ? "was" : "were"} run again"
          end
          "Others took #{taken} of the machine#{again}.#{cost_of(disturbed)}"
        end

        def cost_of(disturbed)
          return unless disturbed.explained_ratio&.positive? && disturbed.quiet_effect_ratio
          " #{Units.percent(disturbed.explained_ratio)} of the scatter in #{@contents.primary.label} goes with that; " \
            "without it, a change of #{Units.percent(disturbed.quiet_effect_ratio)} would have been detected with " \
            "80% power."
        end

        def decided
          looks = @verdict.looks.to_a
          return if looks.empty?
          level, margin = @verdict.level_ratio, @verdict.equivalent_ratio
          each_time = " each time" if looks.size > 1
          interval = " with an interval of #{Units.percent(level)}#{each_time}" if level
          equivalent = "; equivalent: inside 1 ± #{Units.percent(margin)}" if margin
          "By #{@contents.primary.label} after #{Figures.list(looks.map(&:to_s))} rounds#{interval}, declared " \
            "beforehand#{equivalent}."
        end

        def machine
          machine = @verdict.machine or return
          [Facts.machine(machine), (Units.mebibytes(machine.memory_bytes) if machine.memory_bytes),
            machine.kernel].compact.join(", ")
        end

        # Middle and range of all trials.
        def meanwhile
          names = trials.flat_map { |trial| trial.conditions.keys }.uniq
          told = names.filter_map do |name|
            numbers = trials.filter_map { |trial| trial.conditions[name] }.grep(Numeric)
            "#{label(name)} #{middle_and_range(name, numbers)}" if numbers.any?
          end
          "#{told.join("; ")}." if told.any?
        end

        def middle_and_range(name, numbers)
          range = Stats::Estimate.of_range(numbers)
          return words(name, range.value) if words(name, range.low) == words(name, range.high)
          Figures.with_range(range) { |number| words(name, number) }
        end

        def label(name) = LABELS.fetch(name) { name.sub(UNITS, "").tr("_", " ") }

        # By the unit in its name.
        def words(name, number)
          case name[UNITS, 1]
          when "ratio" then Units.percent(number)
          when "ns" then Units.duration(number)
          when "bytes" then Units.mebibytes(number)
          else (number == number.to_i) ? Figures.count(number.to_i) : Units.significant(number)
          end
        end
      end
    end
  end
end
