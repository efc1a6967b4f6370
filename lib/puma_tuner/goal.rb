# frozen_string_literal: true

module PumaTuner
  # A service level objective: of so many requests, each must take less than so long, as the client sees it.
  #
  # endpoint: whose requests, as reports name it; nil: all
  # percentile: "p90" where it is 90% of them
  # limit_ns: nanoseconds that they may take
  Goal = Document.define(:endpoint, :percentile, :limit_ns) do
    const_set(:FORM, "write PERCENT% < TIME, such as \"90% < 300ms\", with a time of at most a day; " \
      "for one endpoint, \"GET /articles/:id: 99% < 1s\"")
    const_set(:PATTERN, %r{
      \A(?:(?<endpoint>\S.*?):\s+)?(?<percent>\d{1,2}(?:\.\d{1,4})?)\s*%\s*<\s*(?<time>\d+(?:\.\d+)?)\s*(?<unit>ms|s)\z
    }x)
    const_set(:UNITS_NS, {"ms" => Units::NS_PER_MS, "s" => Units::NS_PER_S}.freeze)

    # Nobody waits for longer than a day.
    const_set(:LIMITS_NS, 1..86_400 * Units::NS_PER_S)

    # @param text [String] "90% < 300ms", or "GET /articles/:id: 99% < 1s"
    # @return [Goal, nil] nil of a text of another form
    def self.read(text)
      match = self::PATTERN.match(text.strip) or return
      limit_ns = (Rational(match[:time]) * self::UNITS_NS.fetch(match[:unit])).round
      return unless self::LIMITS_NS.cover?(limit_ns) && match[:percent].to_f.positive?
      new(endpoint: match[:endpoint], percentile: "p#{match[:percent]}", limit_ns:)
    end

    # @return [Float] 0.9 of "p90"
    def ratio = Percentile.ratio(percentile).to_f

    # @return [String] "90%"
    def percent = "#{percentile.delete_prefix("p")}%"

    # @return [String] "90% < 300 ms", which can be read again
    def to_s = "#{"#{endpoint}: " if endpoint}#{percent} < #{limit}"

    private

    def limit
      unit = (limit_ns % Units::NS_PER_S).zero? ? "s" : "ms"
      "#{limit_ns.fdiv(self.class::UNITS_NS.fetch(unit)).to_s.delete_suffix(".0")} #{unit}"
    end
  end
end
