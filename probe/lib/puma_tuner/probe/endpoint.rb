# frozen_string_literal: true

require_relative "endpoint/memo"
require_relative "endpoint/parameters"
require_relative "endpoint/path"
require_relative "endpoint/pattern"
require_relative "endpoint/roda_route"
require_relative "endpoint/ways"

module PumaTuner
  module Probe
    # Names the endpoint that a request matched: what the app's owner calls it, else the route where the framework tells
    # it, else the path with its variable parts taken out. Paths are looked at, never recorded.
    #
    # One instance serves a process; all its threads use it, without a lock. Under
    # the GVL a plain Hash can be read and written by all of them, and a lost race
    # only costs that a name is built twice, or that one more than the limit is kept.
    class Endpoint
      # Once there are so many names, a request of another counts for OTHER: a path scheme that we can't see through
      # must not fill the memory. Names made from paths leave some free, for routes that are first asked for after a
      # scanner has been there.
      NAMES_MAX = 200
      GUESSED_NAMES_MAX = 150
      OTHER = "(other)"

      # Once there are so many, a name made from a path comes in when it is asked for a second time: a scanner asks for
      # each path once. Only the last so many of these names are remembered.
      SURE_NAMES_MAX = 100
      CANDIDATES_MAX = 1_000

      # The ways to find a route, in the order in which they are asked. Each has
      # - key(env): what tells this request's route from others, nil where the way knows none; it must not allocate
      # - find(key, env): the route, and where two places share one key a Regexp of the paths it holds for, and where it
      #   is for one format of several, that (see Format); nil: ask the next
      # - guessed?: whether clients can make up routes
      # - framework: the constant without which there are no such routes; nil: there are always
      WAYS = [RailsRoute, SinatraRoute, GrapeRoute, RodaRoute, PlainPath].freeze

      # @param grouping [#call, nil] env to an endpoint's name, or nil for the usual one
      # @param loaded [#call] the name of a constant to whether it is there
      def initialize(grouping: nil, loaded: ->(name) { Object.const_defined?(name) })
        @grouping = grouping
        @loaded = loaded
        @names = {}
        @candidates = {}
        @job_names = {}
        @memos = WAYS.to_h { |way| [way, Memo.new] }
        @files_count = 0
      end

      # @param env [Hash] the request's Rack environment, after the app has seen it
      # @return [String] e.g. "GET /articles/:id"
      def name(env)
        (@grouping && group(env)) || route(env)
      end

      # An app may name each job on its own, as by a record's id.
      #
      # @param name [#to_s] of a kind of jobs
      # @return [String] that; OTHER of a new one once there are NAMES_MAX
      def job_name(name)
        name = name.to_s
        return name if @job_names.key?(name)
        return OTHER if @job_names.size >= NAMES_MAX
        @job_names[name] = true
        name
      end

      private

      # A while, as leaving an each early allocates.
      def route(env)
        look_for_frameworks if @files_count != $LOADED_FEATURES.size
        index = -1
        while (way = @ways[index += 1])
          next unless (key = way.key(env))
          memo = @memos[way]
          name = memo.fetch(env, key)
          name = build(way, memo, key, env) if name.nil?
          return name if name
        end
        OTHER
      end

      # A framework may be loaded as late as by the first request that it serves.
      def look_for_frameworks
        files_count = $LOADED_FEATURES.size
        @ways = WAYS.select { |way| way.framework.nil? || @loaded.call(way.framework) }
        @files_count = files_count
      end

      # A framework whose insides have changed must not reach the app: the next way names its requests.
      def build(way, memo, key, env)
        found, only_for, format = way.find(key, env)
        return memo.store(env, key, false) unless found
        name = "#{env["REQUEST_METHOD"]} #{found}"
        return OTHER if way.guessed? && candidate?(name)
        memo.store(env, key, (format && of_format(name, format)) ||
          admit(name, way.guessed? ? GUESSED_NAMES_MAX : NAMES_MAX), only_for:)
      rescue
        memo.store(env, key, false)
      end

      # Tells whether a name has to be asked for once more.
      def candidate?(name)
        return false if @names.size < SURE_NAMES_MAX || @names.size >= GUESSED_NAMES_MAX
        return false if @names.key?(Path.printable(name)) || @candidates.delete(name)
        @candidates.shift if @candidates.size >= CANDIDATES_MAX
        @candidates[name] = true
      end

      # Clients can ask every route for every format: where these have filled
      # their part, all formats come under the route's name.
      def of_format(name, format)
        name = admit("#{name}.#{format}", GUESSED_NAMES_MAX)
        name unless name == OTHER
      end

      def group(env)
        name = @grouping.call(env) or return
        @names[name] || admit(name.to_s, NAMES_MAX)
      rescue => error
        # Its message may hold what the request brought.
        unless @told
          place = File.basename(error.backtrace&.first.to_s)[/\A.+?:\d+/]
          Probe.say("the app's own grouping of endpoints failed; routes are used (#{error.class}, #{place})")
        end
        @told = true
        nil
      end

      def admit(name, names_max)
        name = Path.printable(name)
        return @names[name] || OTHER if @names.size >= names_max
        @names[name] ||= name
      end
    end
  end
end
