# frozen_string_literal: true

require "json"

module PumaTuner
  module Probe
    # A ledger as JSON: of processes that have ended, added up; or of one that could not have the extension. Numbers
    # have their names there, as in another version they may stand in another order.
    module Written
      NUMBERS = %i[cycles_count process_cpu_ns gc_count unobserved_threads_count unnamed_count lock_pairs_count
        unplaced_locks_count].freeze
      COSTS = %i[cost_per_cycle_ns cost_per_request_ns cost_per_lock_pair_ns].freeze

      module_function

      # @param ledgers [Array<Ledger>]
      # @return [Hash] for JSON; their traces are left out
      def document(ledgers)
        {
          pid: 0, facts: ledgers.last.facts.merge("worker_index" => nil), began_at_ns: ledgers.map(&:began_at_ns).min,
          **NUMBERS.to_h { |name| [name, ledgers.sum { |ledger| ledger.public_send(name) || 0 }] },
          **COSTS.to_h { |name| [name, ledgers.filter_map(&name).max] },
          locks: (Ledger.sum_locks(ledgers).values.map(&:to_h) if ledgers.any?(&:locks)),
          entries: Ledger.sum(ledgers).values.map { |entry| entry_document(entry) }
        }
      end

      def entry_document(entry)
        {kind: entry.kind, name: entry.name, counts: Parts::COUNTS.zip(entry.counts).to_h,
         sums: Parts::SUMS.zip(entry.sums).to_h,
         histograms: Parts::DISTRIBUTIONS.zip(entry.histograms.map { |histogram| histogram&.to_document }).to_h,
         blames: entry.blames.map { |(kind, name), ns| [kind, name, ns] }}
      end

      # @return [Ledger, nil]
      # @raise [InvalidDocument] where another version has other numbers
      def read(path)
        fields = JSON.parse(AtomicFile.read(path))
        entries = fields.fetch("entries").map { |entry| entry_of(entry) }
        Ledger.new(pid: Integer(fields["pid"]), facts: facts(fields["facts"]),
          began_at_ns: Integer(fields["began_at_ns"]), traces: {},
          entries: entries.to_h { |entry| [[entry.kind, entry.name], entry] },
          locks: fields["locks"]&.map { |lock| Ledger::Lock.new(**lock.transform_keys(&:to_sym)) },
          **(NUMBERS + COSTS).to_h { |name| [name, fields[name.to_s]&.then { |number| Integer(number) }] })
      rescue JSON::ParserError, EncodingError
        raise InvalidDocument.new(path, "it is not JSON, or it is cut short")
      rescue *Document::MISFITS
        raise InvalidDocument.new(path, "another version of puma_tuner writes it")
      end

      def entry_of(fields)
        histograms = in_order(Parts::DISTRIBUTIONS, fields["histograms"])
          .map { |histogram| histogram && Probe::Histogram.from_document(histogram) }
        Ledger::Entry.new(kind: fields["kind"].to_sym, name: text(fields["name"]),
          counts: numbers(Parts::COUNTS, fields["counts"]), sums: numbers(Parts::SUMS, fields["sums"]), histograms:,
          blames: fields["blames"].to_h { |kind, name, ns| [[kind.to_sym, text(name)], Integer(ns)] })
      end

      def text(name) = name.is_a?(String) ? name : raise(TypeError, "#{name.inspect} is no name")

      def facts(told) = told.is_a?(Hash) ? told : raise(TypeError, "#{told.inspect} is no hash of facts")

      def in_order(names, numbers)
        raise KeyError, "they have no names" unless numbers.is_a?(Hash)
        names.map { |name| numbers.fetch(name.name) }
      end

      def numbers(names, fields)
        in_order(names, fields).each { |one| one.nil? || one.is_a?(Integer) || raise(TypeError, "#{one} is no number") }
      end
    end
  end
end
