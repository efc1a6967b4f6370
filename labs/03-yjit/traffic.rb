# frozen_string_literal: true

require_relative "synthetic_log"

module PumaTuner
  module Labs
    # What a service of this lab is sent: its access log's kinds of requests, as many of them as wanted, the most frequent
    # first. Made as `puma_tuner requests --top N --keep-values` makes it, and completed by what no log tells: headers and bodies.
    class YjitTraffic
      # A request without a body in the file that is made of a log, see AccessLog::RequestWriter.
      BODILESS = /\A#\s*(?<weight>\d+) (?<request>[A-Z]+ \S+) # its body/

      # @param folder [String] of the service in this lab: endpoints.txt, and bodies.txt where it has some
      # @param application [String] folder of the application
      # @param headers [Hash{String => String}] of each GET
      # @param whole [Boolean] whether with what the mix leaves out otherwise
      def initialize(folder, application, headers:, whole: false)
        @whole = whole
        @folder = folder
        @application = application
        @words = headers.map { |name, value| " 'header:#{name}=#{value}'" }.join
      end

      # @return [Integer] kinds of requests in the log
      def kinds_count = summary.groups.size

      # @param kinds_count [Integer] how many of them are asked
      # @return [Load::Mix]
      def mix(kinds_count)
        Host::ScratchFolder.open do |folder|
          writer = AccessLog::RequestWriter.new(summary, groups_max: kinds_count, source: "a synthetic log", values: true)
          requests, data = %w[requests.txt requests.csv].map { |name| File.join(folder, name) }
          File.write(requests, completed(writer.requests))
          File.write(data, writer.data)
          Load::Mix.read(requests, data_path: writer.columns.any? ? data : nil)
        end
      end

      # @param text [String] of a file of requests
      # @return [String]
      def completed(text)
        text.lines(chomp: true).flat_map { |line|
          bodiless = BODILESS.match(line)
          next with_bodies(bodiless[:request], bodiless[:weight].to_i) if bodiless
          line.start_with?("#") ? line : "#{line}#{@words} expect:200"
        }.join("\n") << "\n"
      end

      private

      # Requests of one path that differ in their body are one kind to a log. Their shares: weights in bodies.txt.
      def with_bodies(request, weight)
        found = bodies.fetch(request) { raise InvariantError, "#{@folder}/bodies.txt has no #{request}" }
        total = found.sum(&:first)
        found.map { |share, words| "#{(weight * share).fdiv(total).round.clamp(1, 1_000)} #{request} #{words}" }
      end

      # @return [Hash{String => Array<Array(Integer, String)>}] weight and further words, by method and path
      def bodies
        @bodies ||= File.readlines(File.join(@folder, "bodies.txt"), chomp: true).grep_v(/\A#/).map { |line| line.split(" ", 4) }
          .group_by { |_, http_method, path, _| "#{http_method} #{path}" }
          .transform_values { |lines| lines.map { |weight, _, _, words| [Integer(weight), words] } }
      end

      def summary
        @summary ||= Host::ScratchFolder.open do |folder|
          log = File.join(folder, "access.log")
          File.write(log, SyntheticLog.of(@folder, @application, whole: @whole).lines.join("\n"))
          reader = AccessLog::Reader.new(log, http_methods: %w[GET POST])
          AccessLog::Summary.new(reader.entries, resolution_ns: reader.resolution_ns) { |path| Probe::Endpoint::Path.name(path) }
        end
      end
    end
  end
end
