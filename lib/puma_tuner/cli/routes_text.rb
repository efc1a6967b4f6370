# frozen_string_literal: true

module PumaTuner
  module CLI
    # What `requests --routes` has found, and what it has left out.
    class RoutesText
      CAUSES = {
        own: "the framework's own, or a health check", signs_out: "it would sign out", excluded: "excluded",
        pattern: "what its pattern matches is not known", mounted: "an app that is mounted there (%s)",
        no_value: "no value for %s in the database, or in a link of a page", status: "answered with status %s",
        raised: "it failed (%s)", writes: "it writes to the database, which is not let through",
        slow: "no response within %s s"
      }.freeze

      # So many are named of each cause.
      NAMED_MAX = 12

      # @param answer [AppRoutes::Answer]
      # @param writer [AppRoutes::RequestWriter]
      # @param output [String] the request file's path
      # @param data [String, nil] the data file's
      def initialize(answer, writer, output:, data:)
        @answer = answer
        @writer = writer
        @output = output
        @data = data
      end

      # @return [String]
      def to_s
        [
          "#{counted(@answer.routes.size, "GET route")} of #{@answer.framework} (#{@answer.environment}), " \
          "#{@writer.kept.size} of them in the file",
          *left_out, *behind, *tls, "requests: #{File.expand_path(@output)}",
          *("values: #{File.expand_path(@data)} (of the database: look whether they may be passed on)" if @data)
        ].join("\n")
      end

      private

      def counted(...) = Report::Figures.counted(...)

      def left_out
        @writer.left_out.group_by { |route| format(CAUSES.fetch(route.cause), *route.detail) }.map do |cause, routes|
          named = routes.first(NAMED_MAX).map { |route| place(route) }.join(", ")
          "  left out: #{cause}: #{named}#{" and #{routes.size - NAMED_MAX} more" if routes.size > NAMED_MAX}"
        end
      end

      # As people write a route.
      def place(route) = route.template.gsub(/\{\{(\w+)\}\}/, ':\\1')

      def behind
        return if @writer.behind.empty?
        places = @writer.behind.filter_map(&:location).uniq
        where = " (#{places.join(", ")})" if places.any?
        ["  behind a sign-in#{where}: #{counted(@writer.behind.size, "route")}, which the file has as comments, with " \
          "setup lines that sign in (docs/reference/requests.md)"]
      end

      def tls
        ["  the app answers only as over TLS: requests say so with X-Forwarded-Proto"] if @answer.tls
      end
    end
  end
end
