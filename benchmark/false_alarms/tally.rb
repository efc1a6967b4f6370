# frozen_string_literal: true

module FalseAlarms
  # How often which came out.
  class Tally
    # False alarms promised, of all.
    PROMISED_RATIO = 0.05

    # How many standard deviations of a binomial count pass for chance. One of ten figures beyond three is chance 1 time in 70.
    DEVIATIONS = 3

    attr_reader :count

    def initialize
      @count = 0
      @sums = Hash.new(0)
    end

    # @param observed [Hash{Symbol => Boolean, Numeric}] true counts 1, false nothing
    def add(**observed)
      @count += 1
      observed.each { |name, value| @sums[name] += {true => 1, false => 0}.fetch(value, value) }
    end

    # @return [Float] share, or mean
    def [](name) = @sums[name].fdiv(@count)

    # @return [Boolean] whether there are more false alarms than promised, and than chance explains
    def broken? = self[:false_alarm] > PROMISED_RATIO + DEVIATIONS * Math.sqrt(PROMISED_RATIO * (1 - PROMISED_RATIO) / @count)
  end
end
