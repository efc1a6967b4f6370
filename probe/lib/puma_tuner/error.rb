# frozen_string_literal: true

module PumaTuner
  # The base of everything that this gem raises on purpose.
  class Error < StandardError
    # @return [String] the message without what the app has printed: what a document may hold of it
    attr_reader :kept

    # @return [Array<String>] the last lines that the app has printed. They may hold anything: whoever runs the command
    #   is shown them, and nobody else
    attr_reader :output

    # @param text [String] what is wrong, and what to do
    # @param output [Array<String>]
    def initialize(text = nil, output: [])
      @kept = text
      @output = output
      super(output.empty? ? text : "#{text}\nIts last lines:\n#{output.map { |line| "  | #{line}" }.join("\n")}")
    end
  end

  # The user has to ask differently, or to install something: the message says how. The command ends with no backtrace
  # and exit code 2.
  class UsageError < Error; end

  # A file that should hold one of our documents does not.
  class InvalidDocument < UsageError
    # @param path [String] of the file
    # @param problem [String] as a clause
    def initialize(path, problem)
      super("#{path} is not a document that this version can read: #{problem}. " \
            "Make it again with the command that wrote it, such as `puma_tuner measure`.")
    end
  end

  # A line of a request file cannot be understood.
  class InvalidRequestFile < UsageError
    # @param path [String] of the file
    # @param line_number [Integer] from 1 on
    # @param problem [String] as a clause
    def initialize(path, line_number, problem)
      super("#{path}, line #{line_number}: #{problem}. The format is described in docs/reference/requests.md.")
    end
  end

  # The request was right, and the measurement failed. The command ends with no backtrace and exit code 3.
  class MeasurementFailed < Error; end

  # The application's server did not come up, or went away while it was needed.
  class ServerFailed < MeasurementFailed
    # @param what [String] what happened, as a clause
    # @param log_tail [Array<String>] the last lines the server printed
    # @param advice [String] what to do next
    def initialize(what, log_tail: [], advice: "Start it by hand with the same command to see the whole output.")
      super("#{what}. #{advice}#{"\nIt printed nothing." if log_tail.empty?}", output: log_tail)
    end
  end

  # The load generator is not installed or gave no response.
  class LoadToolFailed < MeasurementFailed; end

  # A measurement was made, and must not be used: wrong responses, too few requests.
  class InvalidMeasurement < MeasurementFailed; end

  # A promise of our own code was broken. The command asks for a report, shows where, and ends with exit code 70.
  class InvariantError < Error; end
end
