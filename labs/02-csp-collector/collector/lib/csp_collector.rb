# frozen_string_literal: true

# A collector of Content Security Policy reports: README.md beside this folder tells what it does and promises.
module CspCollector
  # What people can put right; the commands end with status 2.
  class UsageError < StandardError; end

  autoload :Aggregator, "#{__dir__}/csp_collector/aggregator"
  autoload :App, "#{__dir__}/csp_collector/app"
  autoload :Browser, "#{__dir__}/csp_collector/browser"
  autoload :Filter, "#{__dir__}/csp_collector/filter"
  autoload :Intake, "#{__dir__}/csp_collector/intake"
  autoload :Journal, "#{__dir__}/csp_collector/journal"
  autoload :LineReader, "#{__dir__}/csp_collector/violation"
  autoload :Noise, "#{__dir__}/csp_collector/noise"
  autoload :Output, "#{__dir__}/csp_collector/output"
  autoload :Page, "#{__dir__}/csp_collector/page"
  autoload :PumaGuard, "#{__dir__}/csp_collector/puma_guard"
  autoload :Refused, "#{__dir__}/csp_collector/refused"
  autoload :ReportApp, "#{__dir__}/csp_collector/report_app"
  autoload :Source, "#{__dir__}/csp_collector/source"
  autoload :Statistics, "#{__dir__}/csp_collector/statistics"
  autoload :Store, "#{__dir__}/csp_collector/store"
  autoload :Together, "#{__dir__}/csp_collector/together"
  autoload :TrendChart, "#{__dir__}/csp_collector/trend_chart"
  autoload :Violation, "#{__dir__}/csp_collector/violation"

  # @return [Journal] the process's
  def self.journal = @journal ||= Journal.new

  # @param name [String] of an environment variable
  # @return [Integer]
  def self.setting(name, default)
    text = ENV.fetch(name, default.to_s)
    Integer(text, 10).tap { |number| raise ArgumentError unless number.positive? }
  rescue ArgumentError
    raise UsageError, "#{name}=#{text}: give a whole number above 0"
  end

  # Ends this process when the one that started it has gone, however that ended: it holds the other end of standard input.
  def self.stay_with_parent
    Thread.new do
      $stdin.read
      Process.kill(:TERM, Process.pid)
    end
  end
end
