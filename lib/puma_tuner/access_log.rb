# frozen_string_literal: true

require "json"
require "time"

module PumaTuner
  # Turns what was asked of a server, by its own log, into a file of requests, and the instants at which they came.
  #
  # Nine formats read a line each: combined (Apache, nginx), apache (with its %D), nginx (its JSON), caddy, rails,
  # lograge, alb (Amazon's load balancer), heroku (its router), kamal (its proxy, Thruster); lines brings them,
  # and knows which it is; reader counts what it leaves out; summary puts entries of one kind together, instants has
  # when they came; request_writer writes them down.
  module AccessLog
    PumaTuner.autoload_folder(self, "#{__dir__}/access_log", summary: %i[Group Summary])

    # One request. at_ns: since the epoch; target: path and query, as they came
    # over the wire; status: nil where the line does not tell it
    # app_ns: how long the app took, as who asked it saw it; client_ns: until the client had its response, which a slow
    #   client makes longer; nil where the line does not tell it
    # lead_ns: how long before at_ns the request had come, where at_ns is the instant of the response and the line tells
    #   its time; else 0
    # passed_on: false where the line says that no app was asked, as whoever wrote it answered by itself
    Entry = Data.define(:at_ns, :http_method, :target, :status, :app_ns, :client_ns, :lead_ns, :passed_on) do
      def initialize(app_ns: nil, client_ns: nil, lead_ns: 0, passed_on: true, **fields) = super

      # @return [String] without its query
      def path = target[/\A[^?]*/]

      # @return [Boolean] whether it became a connection that lasts, so that its time is no response's
      def websocket? = status == 101
    end

    # A format that has a whole request in a line, which its own `read` makes an Entry of. Rails' has not.
    module OneLine
      # @param line [String]
      # @return [Entry, nil] the request that ended with it
      def entry(line)
        read(line)
      rescue ArgumentError, RangeError, JSON::ParserError
        nil # no such day, none that a clock has, or a line that was cut
      end

      # @return [#call] of a line, what `entry` says of it
      def timer = method(:entry)
    end

    # The formats by the name that people give; the first that understands most of a log's first lines is taken. Each
    # has
    # - entry(line): the request that began or ended with it, else nil
    # - timer: an object whose call(line) does the same with times, which Rails' own log has in other lines
    FORMATS = %w[alb apache caddy combined heroku kamal lograge nginx rails].freeze

    # By its lines it is combined.
    NAMED_ONLY = %w[apache].freeze

    # So many lines decide which format it is. Of Rails' own at level debug, one request may have hundreds.
    PROBED_LINES = 2_000

    # @param lines [Array<String>] the first ones
    # @param path [String] of the log
    # @return [Module]
    # @raise [UsageError] when none of the formats is theirs
    def self.guess(lines, path)
      name, count = (FORMATS - NAMED_ONLY).to_h { |one| [one, lines.count { |line| format(one).entry(line) }] }
        .max_by(&:last)
      return format(name) if count.positive?
      if lines.any?(Lograge::WORDS)
        raise UsageError, "#{path} has lines of lograge that tell no time of the day. Set config.log_formatter = " \
          "Logger::Formatter.new in the app, or take the log from a collector that writes it before each line."
      end
      raise UsageError, "#{path} is in no format that is known: its first #{lines.size} lines hold no request. " \
        "Known are #{FORMATS.join(", ")}; --log-format names one."
    end

    INSTANT = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?/
    WHOLE_INSTANT = /\A#{INSTANT}\z/

    # One without a zone is of the server's own, which nobody tells; then both logs are taken to be of the same.
    # @param text [String] as INSTANT has it
    # @return [Integer] nanoseconds since the epoch
    # @raise [ArgumentError] when there is no such day
    def self.instant_ns(text)
      zoned = text.match?(/(?:Z|UTC|[+-]\d\d:?\d\d)\z/) ? text : "#{text}Z"
      epoch_ns(Time.parse(zoned.tr(",", ".")))
    end

    # @param time [Time]
    # @return [Integer] nanoseconds since the epoch
    def self.epoch_ns(time) = time.to_i * Units::NS_PER_S + time.nsec

    # @param text [String] decimal seconds
    # @return [Integer] nanoseconds
    def self.ns_of(text) = (Rational(text) * Units::NS_PER_S).round

    # @param name [String]
    # @return [Module] that turns a line into an Entry, or into nil
    # @raise [UsageError]
    def self.format(name)
      return const_get(name.capitalize) if FORMATS.include?(name)
      raise UsageError, "unknown log format #{name.inspect}; choose one of #{FORMATS.join(", ")}"
    end
  end
end
