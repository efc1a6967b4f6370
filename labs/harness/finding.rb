# frozen_string_literal: true

module PumaTuner
  module Lab
    # rows: of texts, as many in each as there are headings; notes: sentences beneath it
    Table = Document.define(:title, :headings, :rows, :notes) do
      def initialize(notes: [], **fields) = super(**Ractor.make_shareable({notes:, **fields}, copy: true))
    end

    # unit: as people read it, nil of a plain number; ticks: [[place, name], …]
    #   where places have names, as versions do; else nil
    Axis = Document.define(:name, :unit, :ticks) do
      def initialize(unit: nil, ticks: nil, **fields)
        super(**Ractor.make_shareable({unit:, ticks:, **fields}, copy: true))
      end
    end

    # points: [[x, y, low, high], …] ascending in x; low and high: of y's interval, nil without one
    Series = Document.define(:title, :points) do
      def initialize(**fields) = super(**Ractor.make_shareable(fields, copy: true))
    end

    # id: of the figure in a page; reading: how to read it; up: its numbers begin at zero
    Chart = Document.define(:id, :title, :reading, :across, :up, :series,
      nested: {across: Axis, up: Axis, series: [Series]})

    # What a lab found.
    #
    # lab: its name; quick: whether it was the short form, whose intervals are wide
    # conclusions: sentences, made from what was measured
    # verdicts: {name => Prove::Verdict}, whole
    # machine: when it began; command: to repeat it; started_at: ISO 8601
    # commit: of the labs that measured it, nil where it can't be told; ruby: that ran the lab, by RUBY_DESCRIPTION;
    #   both nil of a file of before they were kept
    # unknown: {what => why}
    # family_error_ratio: of all claims that intervals decide, together; nil without any, and of a file of before the
    #   rounds were kept, whose claims have their intervals at 95% each
    Finding = Document.define(:lab, :title, :question, :quick, :claims, :family_error_ratio, :tables, :charts,
      :conclusions, :verdicts, :machine, :command,
      :started_at, :unknown, :commit, :ruby, kind: :finding, added: %i[family_error_ratio commit ruby],
      nested: {claims: [Claim], tables: [Table], charts: [Chart], verdicts: {String => Prove::Verdict},
               machine: Probe::MachineFacts, commit: Commit}) do
      def initialize(claims:, tables: [], charts: [], conclusions: [], verdicts: {}, unknown: {}, commit: nil,
        ruby: nil, **fields)
        claims = Claim.family(claims).freeze
        decided = claims.select(&:by_interval?)
        family_error_ratio = (Claim::FAMILY_ERROR_RATIO if decided.any? && decided.all?(&:round_ratios))
        super(**fields, commit:, ruby:, claims:, family_error_ratio:, tables: tables.dup.freeze,
                        charts: charts.dup.freeze, conclusions: conclusions.dup.freeze, verdicts: verdicts.dup.freeze,
                        unknown: unknown.dup.freeze)
      end

      # @return [Array<Claim>] those that have intervals
      def claims_by_interval = claims.select(&:by_interval?)

      # @return [Finding] the same without what its verdicts are made of, and where its files lay: claims keep their
      #   rounds' ratios
      def short = with(verdicts: {}, command: command&.gsub(/ --(?:output|html|markdown)[ =]\S+| --resume\b/, ""))
    end

    Report.add :finding, FindingReport::Sections, html: FindingReport::Html
  end
end
