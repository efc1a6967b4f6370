# frozen_string_literal: true

module PumaTuner
  # Turns what was asked of a server, by its own log, into a file of requests, and the instants at which they came.
  #
  # formats/* read a line each: combined (Apache, nginx), rails, alb (Amazon's load balancer); reader knows which it is
  # and counts what it leaves out; summary puts entries of one kind together, request_writer writes them down.
  module AccessLog
    autoload :Alb, "puma_tuner/access_log/alb"
    autoload :Combined, "puma_tuner/access_log/combined"
    autoload :Group, "puma_tuner/access_log/summary"
    autoload :Rails, "puma_tuner/access_log/rails"
    autoload :Reader, "puma_tuner/access_log/reader"
    autoload :RequestWriter, "puma_tuner/access_log/request_writer"
    autoload :Shape, "puma_tuner/access_log/shape"
    autoload :Summary, "puma_tuner/access_log/summary"

    # One request. at_ns: since the epoch; target: path and query, as they came
    # over the wire; status: nil where the line does not tell it
    Entry = Data.define(:at_ns, :http_method, :target, :status)

    # The formats by the name that people give; the first that understands most of a log's first lines is taken.
    FORMATS = %w[alb combined rails].freeze

    # @param name [String]
    # @param taken [#include?] names
    # @return [String] itself, or with a number after it
    def self.free_name(name, taken)
      [name].chain((2..).lazy.map { |number| "#{name}_#{number}" }).find { |one| !taken.include?(one) }
    end

    # @param name [String]
    # @return [Module] that turns a line into an Entry, or into nil
    # @raise [UsageError]
    def self.format(name)
      return const_get(name.capitalize) if FORMATS.include?(name)
      raise UsageError, "unknown log format #{name.inspect}; choose one of #{FORMATS.join(", ")}"
    end
  end
end
