# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # The names of requests seen before, by where the app is mounted, the
      # method and what a way goes by. Keys may be raw
      # paths: they are bounded. When there are too many, those leave that
      #   nobody has asked for of late: a scanner's paths keep no room.
      class Memo
        # It keeps so many keys that were asked for lately, and as many older ones. When the first are full, they become
        # the second.
        KEYS_MAX = 1_000
        KEY_BYTES_MAX = 256
        PLACES_MAX = 50

        # A name for the paths that match, where one key stands for routes of several mounts.
        Place = Struct.new(:paths, :name)

        def initialize
          @lately = {}
          @before = {}
          @keys_count = 0
        end

        # @return [String, false, nil] false: known, and without a name; nil: not known
        def fetch(env, key)
          found = find(@lately, env, key)
          found = place_in(found, env["PATH_INFO"])&.name if found.is_a?(Array)
          found.nil? ? again(env, key) : found
        end

        # @param name [String, false]
        # @param only_for [Regexp, nil] the paths that the name is for; nil: all
        # @return [String, false] the name
        def store(env, key, name, only_for: nil)
          return name if long?(key) || long?(env["SCRIPT_NAME"]) || long?(env["REQUEST_METHOD"])
          keep(env, key, only_for ? Place.new(only_for, name) : name)
          name
        end

        private

        def find(mounts, env, key)
          by_method = mounts[env["SCRIPT_NAME"]] or return
          by_key = by_method[env["REQUEST_METHOD"]] or return
          by_key[key]
        end

        # Moves a key from the older ones to those asked for lately.
        def again(env, key)
          found = find(@before, env, key)
          found = place_in(found, env["PATH_INFO"]) if found.is_a?(Array)
          keep(env, key, found) unless found.nil?
          found.is_a?(Place) ? found.name : found
        end

        # @param found [Place, String, false]
        def keep(env, key, found)
          @before, @lately, @keys_count = @lately, {}, 0 if @keys_count >= KEYS_MAX
          @keys_count += 1
          by_key = ((@lately[env["SCRIPT_NAME"]] ||= {})[env["REQUEST_METHOD"]] ||= {})
          by_key[key] = found.is_a?(Place) ? with_place(by_key[key], found) : found
        end

        # The longest first: the one that matches all comes last.
        def with_place(places, place)
          [place, *places].uniq(&:paths).first(PLACES_MAX).sort_by { |known| -known.paths.source.size }.freeze
        end

        # A while, as leaving an each early allocates.
        def place_in(places, path)
          index = -1
          while (place = places[index += 1])
            return place if place.paths.match?(path)
          end
        rescue ArgumentError, EncodingError # a path that is no text
          nil
        end

        def long?(key) = key.is_a?(String) && key.bytesize > KEY_BYTES_MAX
      end
    end
  end
end
