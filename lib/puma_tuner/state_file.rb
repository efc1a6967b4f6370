# frozen_string_literal: true

require "fileutils"
require "json"

module PumaTuner
  # Keeps entries per app, from run to run: a file of the user's own state. Whatever is wrong with it costs a warning,
  # never the run: one that can't be read is put aside and begun anew.
  #
  # An app is known by its key, and whoever has none (a running server, which knows no command) by its endpoints.
  class StateFile
    SCHEMA_VERSION = 1

    # Of the requests of an app that is known by its endpoints, at most so many go to others.
    OTHER_REQUESTS_RATIO_MAX = 0.1

    # @param name [String] of the file
    # @return [String, nil] its path in the user's state folder; nil for a user without a home
    def self.path(name)
      user_folder("XDG_STATE_HOME", ".local/state")&.then { |folder| File.join(folder, "puma_tuner", name) }
    end

    # Finds one of the user's folders by the XDG base directory specification, in which only an absolute path counts.
    #
    # @param variable [String] that may name it
    # @param usual [String] below the user's home
    # @return [String, nil] nil for a user without a home
    def self.user_folder(variable, usual)
      given = ENV[variable].to_s
      return given if given.start_with?("/")
      File.join(Dir.home, usual) if Dir.home.start_with?("/")
    rescue ArgumentError
      nil
    end

    # @param path [String, nil] nil: there is no place, so nothing is known and nothing kept
    # @param kept_count [Integer] entries of each app; older ones give way
    # @param say [#call] told what is wrong with the file, and what else is to be said of it
    # @param clock [#call] gives the time
    # @param read_only [Boolean] whether it stays as it is, also where it can't be read
    # @yieldparam entry [Object] of an app
    # @yieldreturn [Boolean] whether this version has written it
    def initialize(path, kept_count:, say: ->(text) { Kernel.warn("puma_tuner: #{text}") },
      clock: -> { Time.now.utc }, read_only: false, &entry)
      @path = path
      @kept_count = kept_count
      @say = say
      @clock = clock
      @read_only = read_only
      @entry = entry
    end

    # @return [void]
    def say(text) = @say.call(text)

    # @return [String] ISO 8601
    def now = @clock.call.strftime("%FT%TZ")

    # @param app_key [String]
    # @param entries [Array<Hash>]
    # @param endpoint_names [Array<String>] of the app
    # @return [void]
    def add(app_key, entries, endpoint_names: [])
      return if entries.empty?
      change do |known|
        known.fetch("apps")[app_key] = [*known.fetch("apps")[app_key], *entries].last(@kept_count)
        known.fetch("endpoints")[app_key] = endpoint_names.sort if endpoint_names.any?
      end
    end

    # @return [Array<Hash>] of the app, the oldest first
    def of(app_key) = look.fetch("apps").fetch(app_key, [])

    # @param requests_counts [Hash{String => Integer}] by endpoint, of an app whose command nobody knows
    # @return [Array<String>] keys of those apps that have these endpoints, and next to no others
    def keys_of(requests_counts)
      look.fetch("endpoints").select { |_, names| same_app?(names, requests_counts) }.keys
    end

    # @return [void]
    def forget(app_key) = change { |known| known.each_value { |by_app| by_app.delete(app_key) } }

    private

    # Runs that end at the same time change it one after the other.
    def change
      unless @path
        return @say.call("nothing is remembered of this app, as neither XDG_STATE_HOME nor HOME names a folder")
      end
      FileUtils.mkdir_p(File.dirname(@path))
      File.open("#{@path}.lock", File::RDWR | File::CREAT) do |file|
        file.flock(File::LOCK_EX)
        known = read.tap { |all| yield all }
        AtomicFile.write(@path, JSON.generate({schema_version: SCHEMA_VERSION, **known}))
      end
    rescue SystemCallError => error
      @say.call("#{@path} can't be saved: #{error.message}")
    end

    def look
      read
    rescue SystemCallError => error
      @say.call("#{@path} can't be read: #{error.message}")
      nothing
    end

    def nothing = {"apps" => {}, "endpoints" => {}}

    def same_app?(names, requests_counts)
      return false unless names.any? && (names - requests_counts.keys).empty?
      requests_counts.except(*names).values.sum <= OTHER_REQUESTS_RATIO_MAX * requests_counts.values.sum
    end

    # @return [Hash{String => Hash}] "apps": entries, by app; "endpoints": names, by app; older files have none of these
    def read
      return nothing unless @path
      text = AtomicFile.read(@path)
      # JSON would read other bytes, and not write them again.
      return put_aside("it is damaged") unless text.valid_encoding?
      fields = JSON.parse(text)
      return nothing.merge(fields.slice("apps", "endpoints")) if sound?(fields)
      put_aside("it was not written by this version")
    rescue Errno::ENOENT
      nothing
    rescue JSON::ParserError
      put_aside("it is damaged")
    end

    def sound?(fields)
      fields.is_a?(Hash) && fields["schema_version"] == SCHEMA_VERSION && fields["apps"].is_a?(Hash) &&
        fields["apps"].values.all? { |entries| entries.is_a?(Array) && entries.all?(&@entry) } &&
        fields.fetch("endpoints", {}).then { |by_app| by_app.is_a?(Hash) && by_app.values.all?(Array) }
    end

    def put_aside(reason)
      return nothing if @read_only
      aside = "#{@path}.#{@clock.call.strftime("%Y%m%d%H%M%S")}.unread"
      File.rename(@path, aside)
      @say.call("#{@path}: #{reason}; it is now #{aside}, and the record begins anew")
      nothing
    end
  end
end
