# frozen_string_literal: true

module PumaTuner
  # A value that could not be known, or not as a whole, and why. Code goes by field and cause; a report has the words
  # for them (Report::Unknowns).
  #
  # field: its name; whose: whose it is, where that is one of several, such as an endpoint's name; else nil
  # cause: why
  # facts: what belongs to the cause, {"requests_count" => 3}; in "detail" what another program says of it
  Unknown = Document.define(:field, :whose, :cause, :facts, symbols: %i[field cause]) do
    # Causes that have another name in older files.
    const_set(:OLDER_CAUSES, {"unaided" => "no_extension"}.freeze)

    class << self
      # @param facts [Hash{Symbol => Object}] Numeric, String or nil
      # @param field [Symbol] its name
      # @param cause [Symbol] why
      # @param whose [String, nil] whose it is
      # @return [Unknown]
      def of(field, cause, whose: nil, **facts)
        new(field:, whose:, cause:, facts: frozen(facts.transform_keys(&:to_s)))
      end

      # Older files have a text for the field and one for the reason, or the reason alone.
      def from_document(fields)
        case fields
        when Array then of(:other, :told, whose: fields.first, detail: fields.last)
        when String then of(:other, :told, detail: fields)
        else super
        end
      end

      private

      def of_now(fields) = fields.merge("cause" => self::OLDER_CAUSES.fetch(fields["cause"], fields["cause"]))
    end

    # @return [String, nil] what another program says of it
    def detail = facts["detail"]
  end
end
