# frozen_string_literal: true

require "json"
require "net/http"
require "time"
require "uri"

module PumaTuner
  module Fleet
    # A server that speaks Prometheus' HTTP API: Prometheus itself, Thanos, Mimir, VictoriaMetrics.
    #
    # Each fault is told apart, as each has another cure: nobody there, too slow, nobody let in, no Prometheus, a query
    # refused, a response that is partial by its own word.
    class Prometheus
      # One line of a response. labels: {name => value}; values: {seconds since 1970 => Float}
      Series = Data.define(:labels, :values) do
        # @return [String]
        # @raise [InvalidMeasurement] when somebody has taken it off, and what is left means something else
        def label(name)
          labels.fetch(name) do
            raise InvalidMeasurement, "series came without their label #{name} (#{labels}): " \
              "was it dropped by relabelling, or by rules of your own?"
          end
        end
      end

      OPEN_TIMEOUT_S = 5

      # The whole of a response may take so many of the time limits that hold for each part of it: who sends a byte now
      # and then keeps to each of them.
      WHOLE_LIMITS = 10

      # Of what a server says of an error so much is told.
      ERROR_LENGTH = 300
      private_constant :ERROR_LENGTH

      # @return [Array<String>] what the server warned of, as when one of its stores did not answer
      attr_reader :warnings

      # @param url [String] with the path that comes before /api/v1, where there is one
      # @param timeout_s [Numeric] for each query
      # @param headers [Array<String>] "Name: value", such as a tenant's or an authorisation
      # @param cert [String, nil] path of a client certificate (PEM)
      # @param key [String, nil] path of its private key
      # @param most_bytes [Integer] that a response may have; what is read from it takes several times as much memory
      def initialize(url, timeout_s: 60, headers: [], cert: nil, key: nil, most_bytes: HttpExchange::BODY_BYTES_MAX)
        @url = URI.parse(url)
        raise URI::InvalidURIError unless @url.is_a?(URI::HTTP) && !@url.host.to_s.empty?
        @timeout_s = timeout_s
        @most_bytes = most_bytes
        @headers = headers.map { |header| header.split(":", 2).map(&:strip) }
        raise UsageError, "--header: write \"Name: value\"" unless @headers.all? { |header| header.size == 2 }
        refuse_two_of_a_name
        @identity = (cert || key) ? identity(cert, key) : {}
        @warnings = []
      rescue URI::Error
        raise UsageError, "--url: write the address of a Prometheus, such as http://127.0.0.1:9090"
      end

      # @return [String] its address, without a password or a query
      def to_s = public_part(@url.to_s)

      # @param window [Window]
      # @return [Array<Series>]
      # @raise [Unanswered]
      def range(query, window)
        times = window.times
        ask("query_range", query:, start: times.first, end: times.last, step: window.step_s,
          timeout: "#{(@timeout_s * 1_000).round}ms") { |data| series(data) { |one| one.fetch("values") } }
          .reject { |series| series.values.empty? }
      end

      # @param at_s [Numeric]
      # @return [Array<Series>] with one value each
      def instant(query, at_s)
        ask("query", query:, time: at_s, timeout: "#{(@timeout_s * 1_000).round}ms") do |data|
          series(data) { |one| [one.fetch("value")] }
        end
      end

      # @return [Array<String>] that a label has
      def label_values(label, metric, window)
        ask("label/#{label}/values", "match[]": metric, start: window.begins_s, end: window.ends_s, get: true) do |data|
          data.all?(String) ? data : raise(TypeError, "a label's value is no text")
        end
      end

      # @return [Float] seconds that this machine's clock is ahead of the
      #   server's; 0.0 before anything was asked, or when it does not tell
      attr_reader :clock_ahead_s

      private

      # One of them would be left out without a word. A user in the address is sent as such a header, too.
      def refuse_two_of_a_name
        names = [*@headers.map { |name, _| name.downcase }, *("authorization" if @url.user)]
        twice = names.find { |name| names.count(name) > 1 } or return
        user = " (a user in --url is one, too)" if twice == "authorization"
        raise UsageError, "--header: #{twice} is given twice#{user}, and a request has one of it: leave one out; " \
          "several tenants are one value, \"X-Scope-OrgID: web|shop\""
      end

      # @yieldparam one [Hash] of the response's lines
      # @yieldreturn [Array<Array>] time and value of each
      def series(data)
        data.fetch("result").map do |one|
          labels = one.fetch("metric")
          raise TypeError, "labels are no texts" unless labels.is_a?(Hash) && labels.each_value.all?(String)
          Series.new(labels:, values: numbers(yield(one)))
        end
      end

      # A value that is no number (a part of nothing) is not known.
      def numbers(values) = values.to_h { |time, value| [time.round, Float(value, exception: false)] }.compact

      def ask(path, get: false, **parameters)
        response = exchange(path, parameters, get)
        ensure_let_through(response)
        document = parsed(response)
        raise Unanswered, refusal(document, response) unless document.fetch("status") == "success"
        partial = "some of its storage did not answer (isPartial)" if document["isPartial"]
        @warnings |= [*document["warnings"], *partial].map(&:to_s)
        yield document.fetch("data")
      rescue KeyError, TypeError, NoMethodError, ArgumentError, FloatDomainError => error
        raise Unanswered, "#{self} did not answer as Prometheus does: #{error.message}. Give Prometheus' address " \
          "with --url"
      end

      def exchange(path, parameters, get)
        place = "#{@url.path.chomp("/")}/api/v1/#{path}"
        request = if get
          Net::HTTP::Get.new("#{place}?#{URI.encode_www_form(parameters)}")
        else
          Net::HTTP::Post.new(place).tap { |post| post.set_form_data(parameters) }
        end
        @headers.each { |name, value| request[name] = value }
        if @url.user
          request.basic_auth(*[@url.user, @url.password].map { |part| URI.decode_www_form_component(part.to_s) })
        end
        received(request).tap { |response| look_at_clock(response) }
      rescue HttpExchange::TooLarge
        raise Unanswered, too_large
      rescue Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError
        raise Unanswered, "#{self} does not speak HTTP, so it is not Prometheus. Give its address with --url"
      rescue Net::OpenTimeout
        raise Unanswered, "cannot connect to #{self} (no connection within #{OPEN_TIMEOUT_S} s). " \
          "Start Prometheus, or give its address with --url"
      rescue Net::ReadTimeout, Net::WriteTimeout
        raise Unanswered, late("did not answer within #{@timeout_s} s")
      rescue Timeout::Error
        raise Unanswered, late("sent no whole response within #{WHOLE_LIMITS * @timeout_s} s")
      rescue OpenSSL::SSL::SSLError => error
        raise Unanswered, "cannot connect to #{self} (#{error.message}). Give its address with --url, and --cert " \
          "and --key where it asks for a client certificate"
      rescue *HttpExchange::FAULTS => error
        raise Unanswered, "cannot connect to #{self} (#{error.message}). " \
          "Start Prometheus, or give its address with --url"
      end

      def received(request)
        body = +""
        HttpExchange.call(@url, request, part_limit_s: @timeout_s, whole_limit_s: WHOLE_LIMITS * @timeout_s,
          most_bytes: @most_bytes, open_timeout: OPEN_TIMEOUT_S, **@identity) { |part| body << part }
          .tap { |response| response.body = body }
      end

      def late(what)
        "#{self} accepts connections, but #{what}. " \
          "Shorten --window, raise --timeout, or let it evaluate ops/prometheus/rules.yml beforehand"
      end

      def too_large
        "#{self} sent more than #{Units.mebibytes(@most_bytes)} for one query. " \
          "Shorten --window, or let it evaluate ops/prometheus/rules.yml beforehand"
      end

      # An encrypted key is refused: OpenSSL would ask for its password on the terminal otherwise.
      def identity(cert, key)
        raise UsageError, "--cert and --key belong together: give both" unless cert && key
        unless @url.is_a?(URI::HTTPS)
          raise UsageError, "--cert and --key: only a server of https:// asks for a certificate, and --url is " \
            "#{self}: write https:// there, or leave both out"
        end
        own, *chain = OpenSSL::X509::Certificate.load(File.binread(cert))
        {cert: own, extra_chain_cert: chain, key: OpenSSL::PKey.read(File.binread(key), "")}
      rescue SystemCallError, OpenSSL::OpenSSLError => error
        raise UsageError, "--cert and --key: give files with a certificate and its unencrypted private key as PEM " \
          "(#{error.message})"
      end

      def look_at_clock(response)
        @clock_ahead_s = response["date"] ? Time.now - Time.httpdate(response["date"]) : 0.0
      rescue ArgumentError
        @clock_ahead_s = 0.0
      end

      # What stands before a Prometheus, such as a proxy or a login, tells by its status alone what is to be done: its
      # text is a page for people, or some JSON of its own.
      def ensure_let_through(response)
        case response
        when Net::HTTPUnauthorized, Net::HTTPForbidden
          raise Unanswered, "#{self} does not let this request in (status #{response.code}). Give --header, such as " \
            "\"Authorization: Bearer TOKEN\" or \"X-Scope-OrgID: TENANT\", a user and a password in --url, or " \
            "--cert and --key"
        when Net::HTTPRedirection
          raise Unanswered, "#{self} refers to #{public_part(response["location"].to_s).inspect} (status " \
            "#{response.code}). Give that address with --url; where it is one to log in at, give --header"
        when Net::HTTPGatewayTimeout
          return if own_word?(response)
          raise Unanswered, "a proxy before #{self} gave up a query (status #{response.code}). Shorten --window, or " \
            "let it evaluate ops/prometheus/rules.yml beforehand"
        end
      end

      # @return [Boolean] whether a server of this API, which may be behind a proxy, says itself what is wrong
      def own_word?(response)
        parsed(response).key?("errorType")
      rescue Unanswered
        false
      end

      # @return [String] an address without a password and a query
      def public_part(address) = address[/\A[^?#]*/].sub(%r{//[^/]*@}, "//")

      def parsed(response)
        document = JSON.parse(response.body)
        raise JSON::ParserError unless document.is_a?(Hash)
        document
      rescue JSON::ParserError
        raise Unanswered, "#{self} answered #{response.code} and no JSON: that is no Prometheus' API. " \
          "Behind a proxy, give the path before /api/v1, too"
      end

      def refusal(document, response)
        kind, message = document.values_at("errorType", "error").map { |text| text.to_s.scrub }
        told = in_a_line(message)
        if kind == "timeout" || response.is_a?(Net::HTTPGatewayTimeout) || message.match?(/too many samples|timed out/)
          return "#{self} gave up a query after its own limit: #{told}. " \
            "Shorten --window, or let it evaluate ops/prometheus/rules.yml beforehand"
        end
        "#{self} refused a query (#{in_a_line(kind)}): #{told}"
      end

      # It may hold the whole query, or a page. What is wrong stands at its beginning, or, after the query, at its end.
      def in_a_line(text)
        line = text.gsub(/(?:[[:space:]]|[[:cntrl:]])+/, " ").strip
        return line unless line.size > ERROR_LENGTH
        "#{line[0, ERROR_LENGTH / 2]}…#{line[-ERROR_LENGTH / 2..]}"
      end
    end
  end
end
