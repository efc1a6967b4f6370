# frozen_string_literal: true

module PumaTuner
  module Advise
    # The variable of the environment that database.yml reads the size of Active Record's pool from, as that of a new
    # Rails app does. By it a proof can give the pool the places that are advised, and change no file.
    module PoolVariable
      # Values of a database.yml, without a comment behind them.
      SIZE = /^[ \t]*(?:pool|max_connections):[ \t]*(.*?)[ \t]*(?:#.*)?$/

      # `<%= ENV.fetch("RAILS_MAX_THREADS") { 5 } %>`, and whatever else has one number.
      READ = /\A<%=\s*ENV(?:\.fetch\(|\[)\s*["'](\w+)["']\D*(\d+)\D*%>\z/

      # @param advice [Advice] of workers and threads
      # @param command [Host::Command] of the app
      # @return [Hash{String => String}] as `prove --variant` takes it: {"env.RAILS_MAX_THREADS" => "8"}; empty where
      #   all threads have a place, or the pool's size can't be set from outside
      def self.factors(advice, command)
        pool = advice.small_pool or return {}
        name, default = read(File.join(command.directory, Rule::DATABASE_YML))
        # Whatever is read there, it has to be what was recorded: an address of the database may have a size, too.
        return {} unless name && command.environment.fetch(name, default).to_i == pool.facts.fetch("size")
        {"env.#{name}" => pool.facts.fetch("places_count").to_s}
      end

      # @param factors [Hash{String => String}] of a variant with a topology
      # @return [Boolean] whether it has the advised places
      def self.given?(factors) = factors.each_key.any? { |name| name.start_with?("env.") }

      # @return [Array(String, String), nil] the one variable that all sizes in it are read from, and its default
      def self.read(path)
        return unless File.file?(path) && File.readable?(path)
        sizes = File.read(path, encoding: Encoding::UTF_8).scrub.scan(SIZE).flatten
        found = sizes.map { |size| READ.match(size)&.captures }
        found.first if found.uniq.size == 1
      end
      private_class_method :read
    end
  end
end
