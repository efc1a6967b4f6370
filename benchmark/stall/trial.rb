# frozen_string_literal: true

module StallBenchmark
  # One generator's account of the server that stands still.
  #
  # name: of the generator, with its version; load: what it was asked to send; at_rate: whether that was at the test's rate
  # percentiles_ns: {"p50" => ns}, nil where it tells none; requests_count: answered, as it says
  # late_ns: how late the server was itself
  Trial = Data.define(:name, :load, :at_rate, :percentiles_ns, :requests_count, :late_ns) do
    # @return [Array<String>] what is wrong with it; empty when nothing is
    def faults
      wrong = lines.reject(&:right?).map(&:name)
      [*("#{wrong.join(", ")} wrong" if wrong.any?), *miscounted]
    end

    def right? = faults.empty?

    # @return [Array<PumaTuner::Load::SelfTest::Line>]
    def lines
      PumaTuner::Load::SelfTest::RATIOS.map do |name, ratio|
        PumaTuner::Load::SelfTest::Line.new(name: name.to_s, true_ns: PumaTuner::Load::SelfTest.true_quantile_ns(ratio), reported_ns: percentiles_ns[name.to_s])
      end
    end

    private

    def miscounted
      return "knows no rate" unless at_rate
      missing_count = PumaTuner::Load::SelfTest::REQUESTS_COUNT - requests_count
      return if missing_count.zero?
      missing_count.positive? ? "#{missing_count} requests missing" : "#{-missing_count} requests too many"
    end
  end
end
