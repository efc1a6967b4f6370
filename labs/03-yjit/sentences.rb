# frozen_string_literal: true

module PumaTuner
  module Labs
    # What this lab's report says in sentences, all of it made of numbers.
    class YjitSentences
      MIXES = [YjitMeasured::STAGING, YjitMeasured::PRODUCTION].freeze

      # @param measured [YjitMeasured]
      def initialize(measured)
        @measured = measured
      end

      # @return [Array<String>]
      def all = [*staging_sentences, *code_sentences, *limit_sentences, *unsteady_sentences]

      private

      def staging_sentences
        @measured.rubies.flat_map do |ruby|
          YjitMeasured::TITLES.filter_map do |service, title|
            staging, production = MIXES.map { |mix| @measured.cell(service, mix, ruby) }
            next unless staging && production
            "The #{title}, Ruby #{ruby}: under #{Units.counted(staging.kinds_count, "kind")} of requests YJIT changes #{price(staging)}; under #{production.kinds_count}, #{price(production)}."
          end
        end
      end

      # Without CPU where that would be what compiling costs.
      def price(cell) = "memory to #{told(cell, "pss")}#{" and CPU per request to #{told(cell, "cpu_per_request")}" unless @measured.compiling?(cell)}"

      def told(cell, metric) = Report::Figures.ratio(@measured.ratio(cell, metric))

      def code_sentences
        pairs = @measured.of_mix(YjitMeasured::PRODUCTION).filter_map { |cell| [cell, @measured.condition(cell, "yjit_code_bytes")] if @measured.condition(cell, "yjit_code_bytes") }
        pairs.map do |cell, bytes|
          staging = @measured.cell(cell.service, YjitMeasured::STAGING, cell.ruby)&.then { |other| @measured.condition(other, "yjit_code_bytes") }
          "The #{YjitMeasured::TITLES.fetch(cell.service)}, Ruby #{cell.ruby}: #{Units.mebibytes(bytes.value)} of machine code under production's mix#{", #{Units.mebibytes(staging.value)} under staging's" if staging}."
        end
      end

      # As YJIT stops there, more variety would cost no more memory, and bring no more speed.
      def limit_sentences
        @measured.of_mix(YjitMeasured::PRODUCTION).filter_map do |cell|
          full = @measured.condition(cell, "yjit_code_ratio")
          "The #{cell}: YJIT has used #{Units.percent(full.high)} of its limit." if full && full.high >= Probe::YjitLimit::ALARM_RATIO
        end
      end

      def unsteady_sentences
        unsteady = @measured.verdicts.values.sum { |verdict| verdict.cells.sum(&:unsteady_count) }
        all = @measured.verdicts.values.sum { |verdict| verdict.valid_trials.size }
        unsteady.positive? ? ["#{unsteady} of #{all} trials had not settled when the load began that counts: not all was compiled that rare requests need."] : []
      end
    end
  end
end
