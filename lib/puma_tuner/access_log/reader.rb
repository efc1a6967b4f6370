# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # A log's entries, and how many lines were none, or were left out.
    class Reader
      include Enumerable

      # Files that a web server or a content delivery network hands out before Puma sees anything.
      ASSET = /\.(?:css|js|mjs|map|png|jpe?g|gif|webp|avif|svg|ico|woff2?|ttf|eot|mp4|webm)\z/i

      # Endpoints are told by so much of a path.
      PATH_BYTES_MAX = Probe::Endpoint::Path::PATH_BYTES_MAX

      # Each parameter of a target is a column of a data file, and has a place in the template of its kind. More of
      # them are no form's: a list that a program sent, or an attack.
      PARAMETERS_MAX = 250

      # @return [Hash{String => Integer}] why left out => lines
      attr_reader :left_out

      # @return [Integer] of the log's clock
      def resolution_ns = @lines.format::RESOLUTION_NS

      # @return [String] "combined"
      def format_name = @lines.format_name

      # @param path [String] of a log, packed by gzip or not
      # @param format [String, nil] one of FORMATS; nil: by its first lines
      # @param http_methods [Array<String>] others are left out
      # @param assets [Boolean] whether files of pictures, styles and scripts count
      # @raise [UsageError]
      def initialize(path, format: nil, http_methods: %w[GET], assets: false)
        @path = path
        @http_methods = http_methods
        @assets = assets
        @left_out = Hash.new(0)
        @lines = Lines.new(path, format:)
      end

      # @yieldparam entry [Entry] in the log's order
      # @return [void]
      # @raise [UsageError] when there is none
      def each
        count = 0
        each_entry do |found|
          entry = wanted(found) or next
          count += 1
          yield entry
        end
        return if count.positive?
        raise UsageError, "#{@path} holds no request that counts " \
          "(#{left_out.map { |reason, count| "#{count} #{reason}" }.join(", ")}). " \
          "--methods and --assets let more of them count; --log-format names another: #{FORMATS.join(", ")}."
      end

      private

      # What else stands in Rails' own log is no line of its requests alone, and not counted.
      def each_entry(&)
        return Rails.each_entry(@lines, &) if @lines.format == Rails
        @lines.each { |line| yield @lines.format.entry(line) }
      end

      def wanted(entry)
        reason = entry ? reason_against(entry) : "lines that are no request"
        return entry unless reason
        @left_out[reason] += 1
        nil
      end

      def reason_against(entry)
        return "of another method" unless @http_methods.include?(entry.http_method)
        return "answered with an error" if entry.status && entry.status >= 400
        return "for a WebSocket" if entry.websocket?
        return "answered in front of the app" unless entry.passed_on
        path = entry.path
        return "for a file of pictures, styles or scripts" if !@assets && ASSET.match?(path)
        return "with a path of more than #{PATH_BYTES_MAX} bytes" if path.bytesize > PATH_BYTES_MAX
        return "with a target that is no path" unless Load::Request::PATH.match?(entry.target)
        query = entry.target.byteslice(path.bytesize..)
        "with more than #{PARAMETERS_MAX} parameters" if query.count("&") >= PARAMETERS_MAX
      end
    end
  end
end
