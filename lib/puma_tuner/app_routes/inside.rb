# frozen_string_literal: true

# Runs in the app's folder, with the app's Ruby and gems, and none of ours: Asking starts it. Nothing but GET is called,
# in this process: no server is asked, and none started.

require "json"
require "timeout"
require_relative "inside/database"
require_relative "inside/route_list"
require_relative "inside/visits"

module PumaTuner
  module AppRoutes
    # Loads the app, lists its GET routes, asks for each, and tells what came of it as lines of JSON.
    class Inside
      # Values of a route that are tried when none is answered well.
      TRIES = 3

      # Links of pages are looked through so often, as pages that are found have links, too.
      ROUNDS = 3

      SIGN_IN = /sign_?in|log_?in|sessions?\b|auth/i

      # @param options [Hash{String => Object}] limit: values for a route; output: path of the file that is written
      def initialize(options)
        @limit = options.fetch("limit")
        @excluded = options.fetch("excluded")
        @output = File.open(options.fetch("output"), "a")
        @output.sync = true
      end

      def call
        list = RouteList.of_app
        @visits = Visits.new(list.app)
        @templates = list.routes.to_h { |route| [route.template, true] }
        tell(type: "app", framework: list.framework, environment: list.environment, count: list.routes.size)
        left = ask(list.routes.reject { |route| told_excluded?(route) })
        ROUNDS.times { left = ask(left, linked: true) if left.any? }
        left.each { |route| tell_left_out(route, "no_value", route.names.join(", ")) }
        tell(type: "end", tls: @visits.tls?, sign_in:)
      end

      private

      def tell(**facts) = @output.puts(JSON.generate(facts))

      def tell_route(route, **facts) = tell(type: "route", template: route.template, names: route.names, **facts)

      def told_excluded?(route)
        excluded = @excluded.any? { |pattern| File.fnmatch(pattern, route.template) }
        cause = route.cause || ("excluded" if excluded)
        tell_left_out(route, cause, route.detail) if cause
        cause
      end

      def tell_left_out(route, cause, detail, status: nil, location: nil, rows: [])
        tell_route(route, rows:, status:, location:, cause:, detail:)
      end

      # @return [Array] routes for which there is no value (yet)
      def ask(routes, linked: false)
        routes.reject do |route|
          rows = if route.names.empty? then [[]]
          elsif linked then @visits.linked(route, @limit, others: @templates)
          else Database.rows(route, @limit)
          end
          visit(route, rows.uniq.first(@limit)) if rows.any?
          rows.any?
        end
      end

      def visit(route, rows)
        good, bad = [], []
        rows.each do |row|
          break if good.empty? && bad.size == TRIES
          answer = @visits.get(route.path(row))
          (answer.good? ? good : bad) << [row, answer]
        end
        direct = good.reject { |_, answer| answer.location }
        good = direct if direct.any?
        return tell_bad(route, rows, bad.first.last) if good.empty?
        answer = good.first.last
        return tell_behind(route, rows, answer) if sign_in?(answer)
        tell_route(route, rows: good.map(&:first), status: answer.status, location: answer.location)
      end

      def tell_bad(route, rows, answer)
        return tell_behind(route, rows, answer) if answer.status == 401
        tell_left_out(route, answer.cause, answer.detail, status: answer.status)
      end

      def tell_behind(route, rows, answer)
        @sign_in_path ||= answer.location
        tell_left_out(route, "sign_in", answer.location, status: answer.status, location: answer.location, rows:)
      end

      def sign_in?(answer) = answer.location&.match?(SIGN_IN) && answer.location != answer.path

      def sign_in = @sign_in_path && @visits.sign_in_form(@sign_in_path)
    end
  end
end

PumaTuner::AppRoutes::Inside.new(JSON.parse($stdin.read)).call if $PROGRAM_NAME == __FILE__
