# frozen_string_literal: true

require_relative "cell"

module Validation
  # Which cells are measured, and from which recordings they are predicted. Fixed beforehand, so that nobody picks those that come out well.
  module Grid
    # quick: some ten minutes; medium: some forty; full: a day
    FORMS = %i[quick medium full].freeze

    WORKERS = [1, 2].freeze
    THREADS = [1, 2, 3, 5, 8, 16].freeze
    LEVELS = [*[0.5, 1, 2, 4].map { |factor| Level.closed(factor) }, *[0.3, 0.5, 0.7, 0.85].map { |factor| Level.open(factor) }].freeze

    # The others are for picks alone.
    SWEPT_WORKLOADS = %w[empty cpu a many_waits coarse long bimodal garbage].freeze

    # What to pick the best workers x threads from, under the same clients: with enough settings, and on workloads with which
    # formulas pick differently (test/benchmark/validate_test.rb simulates that they do). Shares of IO from 30 to 95 %, requests that
    # differ, garbage, and a limit outside of Puma.
    PICK_SETTINGS = %w[1x1 1x2 1x3 1x5 1x8 2x1 2x2 2x3 2x5 2x8].map { |text| PumaTuner::Topology.parse(text) }.freeze
    PICK_LEVEL = Level.clients(24)
    PICK_WORKLOADS = %w[io_30 io_50 a io_90 io_95 varied garbage limited].freeze
    QUICK_PICK_SETTINGS = PICK_SETTINGS.reject { |topology| topology.to_s == "1x3" }.freeze
    QUICK_PICK_WORKLOADS = %w[io_30 varied limited].freeze

    # Ruby, Puma and time slice; Ruby 3.3 knows only 100 ms. The first is the one that the whole grid is measured with.
    COMBINATIONS = %w[8.0 7.2 6.6].flat_map { |puma| [["3.4", puma, 100], ["3.4", puma, 10], ["3.3", puma, 100]] }.freeze

    # With the others, those workloads that can show what differs (Puma's rules for accepting, the slice, the Ruby) meet a few
    # settings: the whole product takes days.
    SPARSE_WORKLOADS = %w[empty a many_waits bimodal].freeze
    SPARSE_THREADS = [3, 8].freeze
    SPARSE_LEVELS = [Level.closed(1), Level.closed(4), Level.open(0.7)].freeze

    # As many clients as a user's load has, whatever the settings.
    USUAL_CLIENTS_COUNT = 20

    # Locks, hand-over and background.
    MEDIUM_KINDS = %w[locks handover].freeze
    MEDIUM_THREADS = [1, 3, 5, 16].freeze

    REAL_COMBINATION = ["3.4", "own", 100].freeze
    REAL_SETTINGS = %w[1x1 1x2 1x3 1x5 1x8 2x1 2x3 2x5 2x8].map { |text| PumaTuner::Topology.parse(text) }.freeze

    # Of each real application. Nobody looks at these errors while the model is worked on: `--held-out` judges them, once at the end.
    HELD_OUT_SETTINGS = %w[1x3 2x5].map { |text| PumaTuner::Topology.parse(text) }.freeze

    QUICK = {
      "empty/3.4/8.0/100" => {"1x3" => "closed-1 open-0.5", "2x5" => "closed-2"},
      "cpu/3.4/8.0/100" => {"1x1" => "closed-1 open-0.7", "1x5" => "closed-2"},
      "a/3.4/8.0/100" => {"1x3" => "closed-1 open-0.7", "1x5" => "closed-2 open-0.5", "1x8" => "closed-1", "2x3" => "closed-1 open-0.85"},
      "many_waits/3.4/8.0/100" => {"1x3" => "closed-1 open-0.7", "1x8" => "closed-1", "2x5" => "closed-1"},
      "coarse/3.4/8.0/100" => {"1x3" => "closed-2"},
      "long/3.4/8.0/100" => {"1x3" => "closed-1"},
      "bimodal/3.4/8.0/100" => {"1x3" => "closed-1 open-0.5", "2x5" => "closed-1"},
      "garbage/3.4/8.0/100" => {"1x1" => "closed-1", "1x5" => "closed-1 open-0.7", "2x3" => "closed-1"},
      "a/3.4/7.2/100" => {"1x3" => "closed-4"},
      "a/3.4/6.6/100" => {"1x3" => "closed-1", "2x3" => "closed-4"}
    }.freeze

    class << self
      # @param form [Symbol] of FORMS
      # @param everything [Boolean] whether, in the long form, all combinations meet all settings
      # @return [Array<Cell>]
      def cells(form, everything: false)
        case form
        when :quick then quick
        when :medium then [*picks(QUICK_PICK_WORKLOADS, QUICK_PICK_SETTINGS), *contended(MEDIUM_KINDS, MEDIUM_THREADS), *real]
        when :full then full(everything)
        end
      end

      # @return [Array<Cell>] of real applications, with wrk as the client
      def by_wrk = real(Level.wrk(USUAL_CLIENTS_COUNT))

      # @param form [Symbol] of FORMS
      # @param workload [Workload]
      # @return [Array<RecordedAt>] from which all cells of the workload are predicted, each by itself
      def recorded_at(form, workload)
        case workload.kind
        when "made" then %w[1x1]
        when "real" then ["1x1#{"+companions" if form == :full}", "#{workload.own_topology}+companions"]
        else (form == :full) ? %w[1x1 1x5 1x16] : %w[1x1 1x5]
        end.map { |text| RecordedAt.parse(text) }
      end

      # With as many clients as threads, one thread means one request at a time; with a user's load, it is as a user records it.
      # @param workload [Workload]
      # @param topology [PumaTuner::Topology] of a recording
      # @return [Integer]
      def recorded_connections_count(workload, topology) = workload.made? ? topology.slots_count : USUAL_CLIENTS_COUNT

      # @param cell [Cell]
      # @return [Boolean]
      def held_out?(cell) = cell.subject.workload.real? && HELD_OUT_SETTINGS.include?(cell.topology)

      private

      def quick
        cells = QUICK.flat_map do |subject_key, topologies|
          topologies.flat_map { |topology, levels| levels.split.map { |level| Cell.parse("#{subject_key}/#{topology}/#{level}") } }
        end
        cells + picks(QUICK_PICK_WORKLOADS, QUICK_PICK_SETTINGS)
      end

      def full(everything)
        made = Workloads::ALL.select { |workload| SWEPT_WORKLOADS.include?(workload.name) }
        first, *others = COMBINATIONS
        [
          *picks(PICK_WORKLOADS, PICK_SETTINGS),
          *product(made, [first], THREADS, LEVELS),
          *contended(Workloads::KINDS.keys - %w[made real], THREADS),
          *real,
          *(everything ? product(made, others, THREADS, LEVELS) : product(made.select { |workload| SPARSE_WORKLOADS.include?(workload.name) }, others, SPARSE_THREADS, SPARSE_LEVELS))
        ]
      end

      def picks(names, topologies) = at_one_level(names.map { |name| Workloads.find(name) }, COMBINATIONS.first, topologies, PICK_LEVEL)

      def contended(kinds, threads)
        workloads = Workloads::ALL.select { |workload| kinds.include?(workload.kind) }
        at_one_level(workloads, COMBINATIONS.first, topologies(threads), Level.clients(USUAL_CLIENTS_COUNT))
      end

      def real(level = Level.clients(USUAL_CLIENTS_COUNT)) = at_one_level(Workloads::ALL.select(&:real?), REAL_COMBINATION, REAL_SETTINGS, level)

      def at_one_level(workloads, combination, topologies, level)
        subjects([combination], workloads).product(topologies).map { |subject, topology| Cell.new(subject:, topology:, level:) }
      end

      def product(workloads, combinations, threads, levels)
        subjects(combinations, workloads).product(topologies(threads))
          .flat_map { |subject, topology| distinct(levels, topology).map { |level| Cell.new(subject:, topology:, level:) } }
      end

      def subjects(combinations, workloads)
        combinations.product(workloads).map { |(ruby, puma, timeslice_ms), workload| Subject.new(workload_name: workload.name, ruby:, puma:, timeslice_ms:) }
      end

      def topologies(threads) = WORKERS.product(threads).map { |workers, count| PumaTuner::Topology.from(workers, count) }

      # Half a connection is none, and a whole one is measured already.
      def distinct(levels, topology)
        levels.reject { |level| !level.open? && level.factor * topology.slots_count < 1 }
      end
    end
  end
end
