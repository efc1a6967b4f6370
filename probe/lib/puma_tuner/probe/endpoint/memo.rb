# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # The names of requests seen before, by where the app is mounted, the method and what a way goes by. Keys may be raw
      # paths: they are bounded, and never leave. What finds no room is built again each time.
      class Memo
        KEYS_MAX = 2_000
        KEY_BYTES_MAX = 256

        # A name for the paths that match, where one key stands for routes of several mounts.
        Place = Struct.new(:paths, :name)

        def initialize
          @mounts = {}
          @keys_count = 0
        end

        # @return [String, false, nil] false: known, and without a name; nil: not known
        def fetch(env, key)
          by_method = @mounts[env["SCRIPT_NAME"]] or return
          by_key = by_method[env["REQUEST_METHOD"]] or return
          name = by_key[key]
          name.is_a?(Array) ? at_its_place(name, env["PATH_INFO"]) : name
        end

        # @param name [String, false]
        # @param only_for [Regexp, nil] the paths that the name is for; nil: all
        # @return [String, false] the name
        def store(env, key, name, only_for: nil)
          return name if @keys_count >= KEYS_MAX || long?(key) || long?(env["SCRIPT_NAME"]) || long?(env["REQUEST_METHOD"])
          @keys_count += 1
          by_key = ((@mounts[env["SCRIPT_NAME"]] ||= {})[env["REQUEST_METHOD"]] ||= {})
          by_key[key] = only_for ? with_place(by_key[key], Place.new(only_for, name)) : name
          name
        end

        private

        # The longest first: the one that matches all comes last.
        def with_place(places, place)
          [place, *places].uniq(&:paths).sort_by { |known| -known.paths.source.size }.freeze
        end

        def at_its_place(places, path)
          index = -1
          while (place = places[index += 1])
            return place.name if place.paths.match?(path)
          end
        rescue ArgumentError, EncodingError # a path that is no text
          nil
        end

        def long?(key) = key.is_a?(String) && key.bytesize > KEY_BYTES_MAX
      end
    end
  end
end
