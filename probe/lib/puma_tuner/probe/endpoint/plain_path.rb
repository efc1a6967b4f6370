# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # No framework, or one that leaves no route: the path without its variable parts. Hanami's is one of them.
      module PlainPath
        def self.key(env) = env["PATH_INFO"] || env["REQUEST_PATH"] || "/"

        def self.find(key, env)
          name = Path.name("#{env["SCRIPT_NAME"]}#{key}", Parameters.of(env))
          name.empty? ? "/" : name
        end

        def self.guessed? = true

        def self.framework = nil
      end
    end
  end
end
