# frozen_string_literal: true

require "uri"

module PumaTuner
  module AppRoutes
    # A form that asks for a password. token: the name of its hidden one, or nil; fields: names of what is typed in
    SignIn = Data.define(:path, :action, :token, :fields) do
      # @return [Array<String>] columns of a data file, one for each field
      def columns = fields.map { |name| name[/\w+(?=\W*\z)/] }

      # @return [Array<String>] lines of a request file that sign in
      def lines
        values = fields.zip(columns).map { |field, column| "#{field}={{#{column}}}" }
        ["setup GET #{path}#{" pick:token=input:#{token}" if token}",
          "setup POST #{action} header:Content-Type=application/x-www-form-urlencoded " \
          "body:'#{[*values, *("#{token}={{token}}" if token)].join("&")}'"]
      end
    end

    # An app's routes as a file of requests (docs/reference/requests.md), with a data file where one has several values.
    class RequestWriter
      # @param answer [Answer]
      # @param source [String] the app's folder, for a comment
      def initialize(answer, source:)
        @answer = answer
        @source = source
        @columns = {}
        @lines = kept.map { |route| line(route) }
        @behind_lines = behind.map { |route| line(route) }
      end

      # @return [Array<Route>] that are in the file
      def kept = @answer.routes.reject(&:cause)

      # @return [Array<Route>] that lead to a sign-in: they are in the file as comments
      def behind = @answer.routes.select { |route| route.cause == :sign_in }

      # @return [Array<Route>] that are not
      def left_out = @answer.routes.select(&:cause) - behind

      # @return [Array<String>] of the data file
      def columns = @columns.values.flatten

      # @return [String]
      def requests
        [
          "# From the GET routes of #{@source} (#{@answer.framework}, #{@answer.environment}). Each was asked for " \
          "and answered with 2xx or 3xx.",
          "# All weigh the same, as a list of routes does not tell how often each is asked for: correct that.",
          *("# {{names}} are columns of the data file: #{columns.join(", ")}" if columns.any?),
          *@lines, *(behind_comment if behind.any?)
        ].join("\n") << "\n"
      end

      # @return [String] CSV
      def data = Load::DataFile.csv(columns, @columns.keys)

      private

      # What is a redirect and nothing else is meant to be one.
      def line(route)
        expected = " expect:#{route.status}" if route.location && !route.cause
        " 1 GET #{path(route)}#{" header:X-Forwarded-Proto=https" if @answer.tls}#{expected}"
      end

      def path(route)
        return filled(route, route.rows.first.map { |value| URI.encode_uri_component(value) }) if route.rows.one?
        filled(route, names(route).map { |name| "{{#{name}}}" })
      end

      def filled(route, texts)
        route.names.zip(texts).reduce(route.template) { |path, (name, text)| path.sub("{{#{name}}}") { text } }
      end

      # Routes with the same values share columns.
      def names(route)
        @columns[route.rows] ||= route.names.map do |name|
          before = route.template[/(\w+)\/\{\{#{Regexp.escape(name)}\}\}/, 1]
          wanted = (name == "id") ? "#{before || "path"}_id" : name
          Load::FreeNames.new(columns).take(wanted)
        end
      end

      def behind_comment
        lines = @answer.sign_in&.lines || ["setup … (docs/reference/requests.md)"]
        columns = @answer.sign_in&.columns.to_a
        data = ", and give a data file the columns #{columns.join(", ")}, of users that there are" if columns.any?
        ["#", "# These lead to a sign-in. To ask for them, sign in first: take the # away#{data}.",
          *[*lines, *@behind_lines].map { |text| "# #{text.strip}" }]
      end
    end
  end
end
