# frozen_string_literal: true

require "rack" # MockRequest comes with it once it is named: its file is another in Rack 2 than in Rack 3
require "uri"

module PumaTuner
  module AppRoutes
    # Calls the app with GET, in this process, and remembers which links its pages have. While it runs, Active Record
    # lets nothing be written.
    class Visits
      LIMIT_S = 10
      BODY_BYTES_MAX = 2 * 1024 * 1024
      LINKS_MAX = 10_000
      HOST = "127.0.0.1"
      TYPED = ["email", "text", "tel", "password", ""].freeze

      # status: nil where there was no response; location: path that it leads to; cause, detail: of one that is not good
      Answer = Struct.new(:path, :status, :location, :body, :cause, :detail) do
        def good? = status.to_i.between?(200, 399)
      end

      def initialize(app)
        @app = app
        @links = {}
        @tls = false
      end

      # @return [Boolean] whether it answers only as over TLS
      def tls? = @tls

      # @param path [String]
      # @return [Answer]
      def get(path)
        answer = call(path)
        return answer unless !@tls && answer.detail == :tls
        @tls = true
        call(path)
      end

      # @param route [RouteList::Found] with names
      # @param others [#include?] paths that are other routes' own: "/about" is no value of "/:slug"
      # @return [Array<Array<String>>] values that links of pages so far have had
      def linked(route, limit, others: [])
        @links.keys.lazy.reject { |path| others.include?(path) }
          .filter_map { |path| path.match(route.pattern)&.captures }
          .map { |values| values.map { |value| URI.decode_uri_component(value) } }.uniq.first(limit)
      end

      # @param path [String] of a page with a form that asks for a password
      # @return [Hash{Symbol => Object}, nil] action, token: the name of its hidden token, or nil; fields: names of
      #   those that are typed in
      def sign_in_form(path)
        forms = get(path).body.to_s.scan(%r{<form\b.*?</form>}mi)
        form = forms.find { |text| text.match?(/type=["']?password/i) } or return
        hidden, shown = form.scan(/<input\b[^>]*>/mi).partition { |input| attribute(input, "type") == "hidden" }
        typed = shown.select { |input| TYPED.include?(attribute(input, "type").to_s.downcase) }
        {path:, action: action(form, path),
         token: hidden.filter_map { |input| attribute(input, "name") }.find { |name| name.match?(/token|csrf/i) },
         fields: typed.filter_map { |input| attribute(input, "name") }}
      end

      private

      # As a browser takes it: an empty one is the page's own, and it may be relative, or with the host.
      def action(form, path)
        written = attribute(form[/<form\b[^>]*>/mi], "action").to_s.gsub("&amp;", "&")
        URI.join("http://#{HOST}#{path}", written).request_uri
      rescue URI::Error
        path
      end

      def attribute(tag, name) = tag[/\s#{name}=["']([^"']*)["']/i, 1]

      def call(path)
        status, headers, body = Timeout.timeout(LIMIT_S) { without_writing { read(*@app.call(environment(path))) } }
        location, scheme = location_of(headers)
        keep_links(body, headers) if status.between?(200, 299)
        return Answer.new(path, status, location, nil, "status", :tls) if scheme == "https" && location == path
        Answer.new(path, status, location, body, *(["status", status] if status >= 400))
      rescue Timeout::Error
        Answer.new(path, nil, nil, nil, "slow", LIMIT_S)
      rescue Exception => error # rubocop:disable Lint/RescueException -- whatever an app raises is told
        raise if [Interrupt, SignalException, NoMemoryError, SystemExit].any? { |kind| error.is_a?(kind) }
        failed(path, error)
      end

      # What Rails would have made of it.
      def failed(path, error)
        if [error, error.cause].any? { |one| refused_writing?(one) }
          return Answer.new(path, nil, nil, nil, "writes", nil)
        end
        wrapper = defined?(::ActionDispatch::ExceptionWrapper) && ::ActionDispatch::ExceptionWrapper
        status = wrapper ? wrapper.status_code_for_exception(error.class.name) : 500
        Answer.new(path, status, nil, nil, "raised", "#{status}, #{error.class}")
      end

      def refused_writing?(error)
        defined?(::ActiveRecord::ReadOnlyError) && error.is_a?(::ActiveRecord::ReadOnlyError)
      end

      def environment(path)
        Rack::MockRequest.env_for("#{@tls ? "https" : "http"}://#{HOST}#{path}", "HTTP_HOST" => HOST,
          "REMOTE_ADDR" => HOST, "HTTP_ACCEPT" => "*/*", **(@tls ? {"HTTP_X_FORWARDED_PROTO" => "https"} : {}))
      end

      def read(status, headers, body)
        text = +"".b
        body.each { |part| text << part if text.bytesize < BODY_BYTES_MAX } if body.respond_to?(:each)
        headers = headers.to_h.transform_keys { |name| name.to_s.downcase }
        [status.to_i, headers, text.force_encoding("UTF-8").scrub("?")]
      ensure
        body.close if body.respond_to?(:close)
      end

      def without_writing(&)
        return yield unless defined?(::ActiveRecord::Base)
        ::ActiveRecord::Base.while_preventing_writes(true, &)
      end

      # @return [Array(String, String), nil] path and scheme that it leads to
      def location_of(headers)
        uri = URI.parse(headers.fetch("location", nil).to_s)
        [uri.path.to_s.empty? ? "/" : uri.path, uri.scheme] unless uri.to_s.empty?
      rescue URI::Error
        ["?", nil]
      end

      def keep_links(body, headers)
        return unless headers["content-type"].to_s.include?("html")
        body.scan(/<a\b[^>]*?\shref=["']([^"']+)["']/mi) do |(href)|
          path = href.gsub("&amp;", "&").delete_prefix("http://#{HOST}").delete_prefix("https://#{HOST}")[/\A[^?#]*/]
          @links[path] = true if path.start_with?("/") && !path.start_with?("//") && @links.size < LINKS_MAX
        end
      end
    end
  end
end
