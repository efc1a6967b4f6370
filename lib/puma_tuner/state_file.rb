# frozen_string_literal: true

require "fileutils"
require "json"

module PumaTuner
  # Keeps entries per app, from run to run: a file of the user's own state. Whatever is wrong with it costs a warning,
  # never the run: one that can't be read is put aside and begun anew.
  class StateFile
    SCHEMA_VERSION = 1

    # @param name [String] of the file
    # @return [String] its path in the user's state folder
    def self.path(name)
      state = ENV["XDG_STATE_HOME"].to_s
      state = File.join(Dir.home, ".local", "state") if state.empty?
      File.join(state, "puma_tuner", name)
    end

    # @param path [String]
    # @param kept_count [Integer] entries of each app; older ones give way
    # @param say [#call] told what is wrong with the file
    # @param clock [#call] gives the time
    # @yieldparam entry [Object] of an app
    # @yieldreturn [Boolean] whether this version has written it
    def initialize(path, kept_count:, say:, clock:, &entry)
      @path = path
      @kept_count = kept_count
      @say = say
      @clock = clock
      @entry = entry
    end

    # @return [String] ISO 8601
    def now = @clock.call.strftime("%FT%TZ")

    # @param app_key [String]
    # @param entries [Array<Hash>]
    # @return [void]
    def add(app_key, entries)
      change { |apps| apps.merge(app_key => [*apps[app_key], *entries].last(@kept_count)) } if entries.any?
    end

    # @return [Array<Hash>] of the app, the oldest first
    def of(app_key)
      read.fetch(app_key, [])
    rescue SystemCallError => error
      @say.call("#{@path} can't be read: #{error.message}")
      []
    end

    # @return [void]
    def forget(app_key) = change { |apps| apps.except(app_key) }

    private

    # Runs that end at the same time change it one after the other.
    def change
      FileUtils.mkdir_p(File.dirname(@path))
      File.open("#{@path}.lock", File::RDWR | File::CREAT) do |file|
        file.flock(File::LOCK_EX)
        AtomicFile.write(@path, JSON.generate({schema_version: SCHEMA_VERSION, apps: yield(read)}))
      end
    rescue SystemCallError => error
      @say.call("#{@path} can't be saved: #{error.message}")
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
        fields["apps"].values.all? { |entries| entries.is_a?(Array) && entries.all?(&@entry) }
    end

    def put_aside(reason)
      aside = "#{@path}.#{@clock.call.strftime("%Y%m%d%H%M%S")}.unread"
      File.rename(@path, aside)
      @say.call("#{@path}: #{reason}; it is now #{aside}, and the record begins anew")
      {}
    end
  end
end
