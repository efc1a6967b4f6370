# frozen_string_literal: true

module PumaTuner
  module Load
    # What each client of a mix with set-up lines has besides its cookies: values by name. Of a data file, those columns
    # that a set-up line uses, from a row of its own (so that it is one user, whatever it asks for); and what it picks
    # from responses.
    class Session
      # As in ext/puma_tuner_load/client.h.
      VALUE_BYTES_MAX = 4_096

      # @param mix [Mix] with set-up lines
      def initialize(mix)
        @mix = mix
        @picked = mix.set_up.flat_map { |request| request.picks.map(&:name) }.uniq
        @columns = mix.set_up.flat_map { |request| Template.new(request).names }.uniq - @picked
        @places = [*@columns, *@picked].each_with_index.to_h
      end

      # @param name [String]
      # @return [Integer, nil] its place among a client's values; nil of a column whose values are of no client
      def place(name) = @places[name]

      # @param name [String]
      def picked?(name) = @picked.include?(name)

      # @return [Integer, nil] of the data file, that clients take their values from; nil where they take none
      def rows_count = (@mix.data.rows.size if @columns.any?)

      # With fewer rows than clients, several have the same.
      #
      # @param count [Integer] of clients
      # @param seed [Integer]
      # @return [Array<Array(String, Array<String>)>] of each client: cookies, as a jar has them, and values
      def clients(count, seed)
        rows = @columns.empty? ? [{}] : @mix.rows(seed)
        Array.new(count) { |index| ["", values(rows[index % rows.size])] }
      end

      private

      def values(row) = @places.keys.map { |name| picked?(name) ? "" : row.fetch(name) }
    end
  end
end
