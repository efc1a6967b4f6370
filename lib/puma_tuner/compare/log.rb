# frozen_string_literal: true

module PumaTuner
  module Compare
    # One of the two logs.
    class Log
      # Which time of a request is meant. app: what the app took, as who asked it saw it; client: until the client had
      # its response
      SEEN_FROM = %w[app client].freeze

      # With more of them, what is left tells nothing of those that were left out, which are the slower ones.
      INTERLEAVED_MAX_RATIO = 0.05

      # How many different paths are remembered with their names, none of them longer than PATH_BYTES_MAX.
      NAMES_MAX = 10_000

      TOLD_EVERY_LINES = 10_000

      # @return [String] as it was given
      attr_reader :path

      # @return [Hash{Symbol => Integer}] why left out => lines or requests
      attr_reader :left_out

      # @return [Tally] once it was read
      attr_reader :tally

      # @param path [String] or "-"
      # @param format [String, nil] one of AccessLog::FORMATS; nil: by its first lines
      # @param assets [Boolean] whether files of pictures, styles and scripts count
      # @param grouping [#call, nil] of PumaTuner.group_endpoints
      # @raise [UsageError]
      def initialize(path, format: nil, assets: false, grouping: nil)
        @path = path
        @assets = assets
        @grouping = grouping
        @left_out = Hash.new(0)
        @names = {}
        @lines = AccessLog::Lines.new(path, format:)
      end

      # @return [Module] one of AccessLog's formats
      def format = @lines.format

      # @return [String] "combined"
      def format_name = @lines.format_name

      # @return [Integer, nil] bytes; nil of a pipe
      def total_bytes = @lines.total_bytes

      # @return [Array<String>] the times of SEEN_FROM that its first lines tell
      # @raise [UsageError] when there is none
      def seen_from
        timer = format.timer
        entries = @lines.first_lines.filter_map { |line| timer.call(line) }
        found = SEEN_FROM.select { |name| entries.any? { |entry| entry.public_send(:"#{name}_ns") } }
        return found if found.any? || @lines.first_lines.empty?
        raise UsageError, "#{@path} tells no times: #{NO_TIMES.fetch(format_name)}"
      end

      # @param seen_from [String]
      # @param random [Random]
      # @param resolution_ns [Integer] of both logs' times
      # @yieldparam done_bytes [Integer, nil] every now and then
      # @yieldparam lines_count [Integer]
      # @return [self]
      # @raise [UsageError]
      def read(seen_from:, random:, resolution_ns: format::TIME_RESOLUTION_NS)
        @tally = Tally.new(random:, resolution_ns:)
        @timer = format.timer
        @field = :"#{seen_from}_ns"
        count = 0
        @lines.each do |line|
          take(line)
          yield @lines.done_bytes, count if block_given? && ((count += 1) % TOLD_EVERY_LINES).zero?
        end
        check
        self
      end

      # What to change in the server, so that there are times.
      NO_TIMES = {
        "combined" => "nginx writes them where its log_format has $request_time and $upstream_response_time (in " \
          "seconds, with three decimals); rt=… and urt=… before them say which is which. Apache's %D, a whole " \
          "number of microseconds at the end of its LogFormat, is read with --log-format apache",
        "apache" => "no line has a whole number behind the size and the quoted texts: its LogFormat needs %D there",
        "caddy" => "it has no field duration in seconds, as Caddy writes it where no duration_format is set",
        "rails" => "it has no lines such as \"Completed 200 OK in 12ms\"; the log level must be info or debug",
        "nginx" => "its log_format needs \"request_time\":\"$request_time\" and " \
          "\"upstream_response_time\":\"$upstream_response_time\"",
        "lograge" => "it has no field duration", "kamal" => "it has no field duration or dur",
        "heroku" => "it has no field service",
        "alb" => "no request was sent to a target"
      }.freeze
      private_constant :NO_TIMES

      private

      def take(line)
        entry = @timer.call(line)
        return (@left_out[:no_request] += 1 unless format == AccessLog::Rails) unless entry
        path = entry.path
        return @left_out[:asset] += 1 if !@assets && AccessLog::Reader::ASSET.match?(path)
        took_ns = entry.public_send(@field) if entry.passed_on && !entry.websocket?
        return @left_out[:no_time] += 1 if took_ns.nil? && !(entry.status && entry.status >= 400)
        @tally.add(name(entry.http_method, path), at_ns: entry.at_ns, took_ns:, status: entry.status)
      end

      # Named as the probe names what has no route, or by the app's own grouping.
      def name(http_method, path)
        key = [http_method, path]
        known = @names[key] and return known
        name = own_name(http_method, path) || Probe::Endpoint::Path.printable("#{http_method} #{plain(path)}")
        return name if path.bytesize > AccessLog::Reader::PATH_BYTES_MAX
        @names.shift if @names.size >= NAMES_MAX
        @names[key] = name
      end

      def plain(path)
        named = Probe::Endpoint::Path.name(path)
        named.empty? ? "/" : named
      end

      def own_name(http_method, path)
        return unless @grouping
        name = @grouping.call({"REQUEST_METHOD" => http_method, "PATH_INFO" => path, "SCRIPT_NAME" => "",
                               "QUERY_STRING" => ""})
        Probe::Endpoint::Path.printable(name.to_s) if name
      rescue => error
        raise UsageError, "the block of PumaTuner.group_endpoints failed (#{error.class}: #{error.message}); a log " \
          "has method and path of a request alone: REQUEST_METHOD, PATH_INFO"
      end

      def check
        if @timer.respond_to?(:interleaved_count) && (count = @timer.interleaved_count).positive?
          @left_out[:interleaved] = count
          ensure_apart(count)
        end
        return if @tally.requests_count.positive?
        raise UsageError, "#{@path} holds no request that counts#{" (#{left_out_told})" if @left_out.any?}. " \
          "--log-format names another format: #{AccessLog::FORMATS.join(", ")}; --seen-from another time."
      end

      def left_out_told = @left_out.map { |reason, count| "#{count} #{reason.to_s.tr("_", " ")}" }.join(", ")

      def ensure_apart(count)
        return if count <= INTERLEAVED_MAX_RATIO * (count + @tally.requests_count)
        raise UsageError, "#{@path}: #{count} requests were under way beside others, and its lines have no tag that " \
          "tells whose they are. Set config.log_tags = [:request_id] in the app, or use lograge, and compare what is " \
          "logged from then on."
      end
    end
  end
end
