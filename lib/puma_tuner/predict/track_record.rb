# frozen_string_literal: true

require "digest"
require "fileutils"
require "json"

module PumaTuner
  module Predict
    # Keeps, per app and from run to run, how far forecasts missed what was then measured: the next forecasts of the app
    # are as uncertain as the earlier ones turned out to be.
    #
    # A file of the user's own state. Whatever is wrong with it costs a warning, never the run: one that can't be read
    # is put aside and begun anew.
    class TrackRecord
      SCHEMA_VERSION = 1

      # Each app keeps so many checks; older ones give way. An app changes, and so do we.
      KEPT_COUNT = 200

      # @return [String]
      def self.default_path
        state = ENV["XDG_STATE_HOME"].to_s
        state = File.join(Dir.home, ".local", "state") if state.empty?
        File.join(state, "puma_tuner", "forecasts.json")
      end

      # @param command [String] that serves the app
      # @param endpoint_names [Array<String>]
      # @return [String] tells apps apart
      def self.app_key(command, endpoint_names)
        Digest::SHA256.hexdigest(JSON.generate([command, endpoint_names.sort]))[0, 16]
      end

      # @param say [#call] told what is wrong with the file
      # @param clock [#call] gives the time of a check
      def initialize(path = self.class.default_path, say: ->(text) { Kernel.warn("puma_tuner: #{text}") },
        clock: -> { Time.now.utc })
        @path = path
        @say = say
        @clock = clock
      end

      # @param app_key [String]
      # @param checks [Array<Check>]
      # @param machine_key [String, nil] where they were measured
      # @return [void]
      def add(app_key, checks, machine_key: nil)
        entries = checks.select { |check| check.log_ratio.finite? }.map { |check| entry(check, machine_key) }
        return if entries.empty?
        locked do
          apps = read
          apps[app_key] = [*apps[app_key], *entries].last(KEPT_COUNT)
          write(apps)
        end
      rescue SystemCallError => error
        @say.call("the track record of these forecasts can't be saved: #{error.message}")
      end

      # @param app_key [String]
      # @return [Hash{String => Numeric}, nil] by metric: root mean square of ln(measured / forecast), and of the fewest
      #   of them "checks_count"; nil without any
      def past_error(app_key)
        by_metric = read.fetch(app_key, []).group_by { |entry| entry.fetch("metric") }
        return if by_metric.empty?
        errors = by_metric.transform_values do |entries|
          Math.sqrt(entries.sum { |entry| entry.fetch("log_ratio")**2 } / entries.size)
        end
        {**errors, "checks_count" => by_metric.values.map(&:size).min}.freeze
      rescue SystemCallError => error
        @say.call("how earlier forecasts did can't be read: #{error.message}")
        nil
      end

      private

      def entry(check, machine_key)
        {"metric" => check.metric, "log_ratio" => check.log_ratio, "scenario" => check.scenario.to_s,
         "machine" => machine_key, "date" => @clock.call.strftime("%FT%TZ")}
      end

      # Runs that end at the same time add to it one after the other.
      def locked(&)
        FileUtils.mkdir_p(File.dirname(@path))
        File.open("#{@path}.lock", File::RDWR | File::CREAT) { |file| file.flock(File::LOCK_EX) && yield }
      end

      # @return [Hash{String => Array<Hash>}] by app
      def read
        fields = JSON.parse(File.read(@path))
        return fields.fetch("apps") if sound?(fields)
        put_aside("it was not written by this version")
      rescue Errno::ENOENT
        {}
      rescue JSON::ParserError
        put_aside("it is damaged")
      end

      def sound?(fields)
        fields.is_a?(Hash) && fields["schema_version"] == SCHEMA_VERSION && fields["apps"].is_a?(Hash) &&
          fields["apps"].values.all? { |entries| entries.is_a?(Array) && entries.all? { |entry| entry?(entry) } }
      end

      def entry?(entry) = entry.is_a?(Hash) && entry["metric"].is_a?(String) && entry["log_ratio"].is_a?(Float)

      def put_aside(reason)
        aside = "#{@path}.#{@clock.call.strftime("%Y%m%d%H%M%S")}.unread"
        File.rename(@path, aside)
        @say.call("#{@path}: #{reason}; it is now #{aside}, and the record begins anew")
        {}
      end

      def write(apps) = AtomicFile.write(@path, JSON.generate({schema_version: SCHEMA_VERSION, apps:}))
    end
  end
end
