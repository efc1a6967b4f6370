# frozen_string_literal: true

require "fileutils"
require "net/http"
require "securerandom"
require "uri"

module PumaTuner
  module Profile
    # Single requests, each profiled alone, from the moment at which Puma takes it to the end of its response.
    #
    # Profiles requests of a server that we start, or of one that runs already, with PumaTuner::ProfilerMiddleware in it
    # and its token in our hands.
    class RequestRun
      # Requests before the ones that count: what is loaded, compiled and cached at first is not what a request costs.
      WARMUP_COUNT = 20

      TIME_LIMIT_S = 120

      # The whole of a response may take so many of these, as it may come piece by piece.
      WHOLE_LIMITS = 5

      # A header's value that is no path: nothing of it is looked for, or goes into somebody's terminal.
      NO_PATH = /\A\s*\z|[\x00-\x1F\x7F]/n
      PATH_BYTES_MAX = 4_096
      private_constant :NO_PATH, :PATH_BYTES_MAX

      # @param profiler [Class] of Profilers
      # @param settings [Probe::Profiling::Settings] scope "request"
      # @param times [Integer] how often
      # @param limit_s [Numeric] for a response to begin, and for each further part of it
      def initialize(profiler:, settings:, times:, limit_s: TIME_LIMIT_S)
        @profiler = profiler
        @settings = settings
        @times = times
        @limit_s = limit_s
      end

      # @param command [Host::Command]
      # @param path [String] what is requested
      # @return [Costs]
      def of_command(command, path, boot_limit_s:)
        ensure_path(path)
        FileUtils.mkdir_p(@settings.folder)
        environment = {**command.environment, **@settings.to_environment}
        Host::ServerProcess.run(command.with(environment:), topology: Topology.parse("1x1"), boot_limit_s:) do |server|
          url = URI.join(server.url, path)
          WARMUP_COUNT.times { ensure_response(get(url), url) }
          @times.times { |done_count| profile(url, done_count) }
          costs(files, "one request at a time: GET #{endpoint(path)} of #{command}")
        end
      end

      # @param url [String] of a request to a server on this machine
      # @return [Costs]
      def of_url(url)
        uri = URI(url)
        raise UsageError, "#{told(url)} is not an http:// address" unless uri.is_a?(URI::HTTP) && !uri.host.to_s.empty?
        raise UsageError, "--token: no header may hold a control character" if @settings.token.match?(/[[:cntrl:]]/)
        made = Array.new(@times) { made_of(get(uri, token: @settings.token), uri) }
        costs(made, "one request at a time: GET #{endpoint(uri.path)} of a running server")
      rescue URI::Error
        raise UsageError, "#{told(url)} is not an http:// address"
      end

      private

      def endpoint(path) = Probe::Endpoint::Path.name(path[/\A[^?]*/]).then { |name| name.empty? ? "/" : name }

      def told(address) = Host::Masking.paths(address.to_s)

      # An address would lead elsewhere than to the server that we start.
      def ensure_path(path)
        return if Load::Request::PATH.match?(path) && URI.join("http://127.0.0.1", path)
        raise UsageError, "--request #{told(path)}: write a path, with blanks and the like percent-encoded; " \
          "--url is for a server that runs already"
      rescue URI::Error
        raise UsageError, "--request #{told(path)}: write a path, with what no address may hold percent-encoded"
      end

      # The response is there before its profile is written.
      def profile(url, done_count)
        ensure_response(get(url, token: @settings.token), url)
        deadline_s = Clock.now_s + TIME_LIMIT_S
        sleep 0.005 until files.size > done_count || Clock.now_s > deadline_s
        unless files.size > done_count
          raise InvalidMeasurement, "#{@profiler::NAME} wrote no profile of #{told(url)} within #{TIME_LIMIT_S} s"
        end
      end

      def files = Dir[File.join(@settings.folder, "#{@profiler::NAME}-*#{@profiler::EXTENSION}")]

      def get(uri, token: nil)
        request = Net::HTTP::Get.new(uri)
        request[Probe::Profiling::OneRequest::HEADER] = token if token
        HttpExchange.call(uri, request, part_limit_s: @limit_s, whole_limit_s: WHOLE_LIMITS * @limit_s)
      rescue HttpExchange::TooLarge => error
        raise MeasurementFailed, "#{told(uri)}: #{error.message}. Profile a request whose response is shorter."
      rescue Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError, Net::ProtocolError, Zlib::Error => error
        raise MeasurementFailed, "#{told(uri)} responded with what is no HTTP (#{Document.first_line(error)}). " \
          "Check that the app's server is listening there."
      rescue *HttpExchange::FAULTS => error
        raise MeasurementFailed, "#{told(uri)}: #{Document.first_line(error)}. Check that a server is listening there."
      end

      def ensure_response(response, uri)
        return if response.code.to_i < 400
        raise InvalidMeasurement, "#{told(uri)} responded with #{response.code}, and the profile of an error is not " \
          "the request's. Send it by hand, and look at the server's log."
      end

      def made_of(response, uri)
        ensure_response(response, uri)
        path = path_of(response, uri)
        return path if path && File.file?(path)
        if path
          raise UsageError, "the profile is in #{path.scrub} of another machine; " \
            "read it there: puma_tuner profile --read #{path.scrub}"
        end
        raise MeasurementFailed, "#{told(uri)} responded without a profile. Check that the app has `use " \
          "PumaTuner::ProfilerMiddleware`, with the same token."
      end

      # @return [String, nil] of the profile, as the server tells it
      def path_of(response, uri)
        path = response[Probe::Profiling::OneRequest::HEADER]&.dup&.force_encoding(Encoding::UTF_8) or return
        return path unless path.bytesize > PATH_BYTES_MAX || path.b.match?(NO_PATH)
        raise MeasurementFailed, "#{told(uri)} says that its profile is in #{Document.told(path)}, which is no path. " \
          "Check that the app's server is listening there."
      end

      def costs(files, target)
        Reading.new(profiler: @profiler, mode: @settings.mode, target:, command: Host::Masking.own_command)
          .call(files, work_count: @times)
      end
    end
  end
end
