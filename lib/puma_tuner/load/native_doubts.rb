# frozen_string_literal: true

module PumaTuner
  module Load
    # Decides whether the responses are those that were meant: a login page, or an error page that says 200, is quick
    # and tells nothing of the app.
    class NativeDoubts
      # Every page of an app is longer; a heartbeat's response is not, but an app has no three of them.
      ALIKE_BYTES_MAX = 512
      ALIKE_PATHS_MIN = 3

      # JAR_BYTES_MAX of ext/puma_tuner_load/client.h.
      COOKIES_KIB_MAX = 16

      # @param figures [Hash{Symbol => Object}] as ext/puma_tuner_load/bindings.c writes them
      # @param mix [Mix]
      # @param url_base [String]
      # @param clients [Clients, nil] that sent it
      def initialize(figures, mix:, url_base:, clients: nil)
        @figures = figures
        @set_up_retried_count = clients ? clients.retried_count : 0
        @session = Session.new(mix) if mix.set_up.any?
        @requests = mix.requests.zip(figures[:requests])
        @url_base = url_base
      end

      # @return [self]
      # @raise [InvalidMeasurement] when more than half of the mix was redirected, and nobody said that this is meant
      def ensure_no_redirects
        return self unless @figures[:redirected]
        raise InvalidMeasurement, "most responses are redirects to #{locations} (#{redirect_statuses.join(", ")}): " \
          "this would measure the redirect, not the app. #{cure}, " \
          "or list the status with expect:#{redirect_statuses.first} if it is meant (docs/reference/requests.md)."
      end

      # @return [self]
      # @raise [InvalidMeasurement] when a response had not what must be picked from it: the requests after it were not
      #   those that are meant
      def ensure_picked
        request, figures = @requests.find { |_, one| one[:unpicked_count].positive? }
        return self unless request
        raise InvalidMeasurement, "#{figures[:unpicked_count]} of #{figures[:answered_count]} responses to " \
          "#{request.http_method} #{place(request.path)} have nothing for #{request.picks[figures[:unpicked]]}. " \
          "Ask for it by hand, as somebody who is set up as the request file says (docs/reference/requests.md)."
      end

      # @return [String, nil] see Outcome
      def first_unexpected
        request, figures = @requests.find { |_, one| (one[:unexpected_count] + one[:wrong_body_count]).positive? }
        return unless request
        statuses = figures[:statuses].keys.map { |status| status.to_s.to_i }
        status = statuses.find { |one| !request.expects?(one) } || statuses.first
        "#{request.http_method} #{place(request.path)}, #{status}"
      end

      # @return [Array<String>]
      def remarks
        [alike, (redirected_in_part unless @figures[:redirected]), dropped_cookies, *retried, shared_rows].compact
      end

      private

      # What the server had begun of them it has done twice.
      def retried
        {"requests" => @figures[:retried_count], "requests of the set-up lines" => @set_up_retried_count}
          .select { |_, count| count.positive? }.map do |what, count|
          "#{what} that were sent once more over a new connection, as the kept one ended right after they were sent, " \
            "without a response: #{count}"
        end
      end

      def shared_rows
        rows_count = @session&.rows_count
        clients_count = @figures[:clients].to_a.size
        return unless rows_count && rows_count < clients_count
        "the data file has fewer rows (#{rows_count}) than there are connections (#{clients_count}), so several of " \
          "these are the same user: add rows, or send by fewer --connections"
      end

      def dropped_cookies
        count = @figures[:dropped_cookies_count]
        return unless count.positive?
        "#{count} cookies were not kept, as a connection's take #{COOKIES_KIB_MAX} KiB at most: " \
          "what the app keeps in them may be missing"
      end

      def redirected
        @redirected ||= @requests.select do |request, figures|
          !request.redirect_meant? && figures[:redirected_count] * 2 > figures[:answered_count]
        end
      end

      def redirect_statuses
        statuses = redirected.flat_map { |_, figures| figures[:statuses].keys }
        (statuses.map { |status| status.to_s.to_i } & Request::REDIRECTS).sort
      end

      # The one that most of the mix leads to comes first.
      def locations
        weights = redirected.each_with_object(Hash.new(0)) do |(request, figures), sums|
          sums[location(figures)] += request.weight
        end
        first, *others = weights.sort_by { |_, weight| -weight }.map(&:first)
        (others.any? || redirected.any? { |_, figures| figures[:other_locations] }) ? "#{first} and elsewhere" : first
      end

      # Returns a place that may go into documents: it has no query, and no variable part of a path.
      def location(figures) = figures[:location]&.delete_prefix(@url_base)&.then { |text| place(text) } || "nowhere"

      def place(address)
        origin, path = address[/\A[^?#]*/].match(%r{\A(\w+://(?:[^/]*@)?[^/]*)?(.*)\z}m).captures
        name = Probe::Endpoint::Path.name(path)
        "#{origin&.sub(%r{(?<=://).*@}, "")}#{name.empty? ? "/" : name}"
      end

      def cure
        if redirected.all? { |_, figures| figures[:location].to_s.start_with?("https:") }
          return "To an app that wants TLS, send header:X-Forwarded-Proto=https in a request file"
        end
        if @session
          return "Is the sign-in of the set-up lines right? A page behind it with has:TEXT, as their last, tells"
        end
        "Behind a login, sign in with setup lines, or send a session cookie (header:Cookie=…), in a request file"
      end

      def redirected_in_part
        return if redirected.empty?
        names = redirected.map { |request, _| "#{request.http_method} #{place(request.path)}" }.uniq
        "#{names.first(3).join(", ")}#{" and #{names.size - 3} more" if names.size > 3} of the mix: " \
          "redirected to #{locations}. That is quick, and part of all figures"
      end

      # Where a text is looked for, the app is known to have answered as it should.
      def alike
        told = @requests.select { |request, _| request.http_method == "GET" && request.expected_text.nil? }
        paths = told.map { |request, _| request.path[/\A[^?]*/] }.uniq
        return if paths.size < ALIKE_PATHS_MIN
        statuses = told.flat_map { |_, figures| figures[:statuses].keys }.uniq
        lengths = told.flat_map { |_, figures| figures.values_at(:body_bytes_min, :body_bytes_max) }.uniq
        status, bytes = statuses.first, lengths.first
        return unless statuses.one? && lengths.one? && bytes <= ALIKE_BYTES_MAX &&
          told.none? { |_, figures| figures[:answered_count].zero? }
        "#{paths.size} different paths are all answered with status #{status} and #{bytes} bytes: is that the app, " \
        "or a page in front of it? Check with has:TEXT in a request file"
      end
    end
  end
end
