# frozen_string_literal: true

module PumaTuner
  module Load
    # Several requests, each sent as often as its weight says. Frozen.
    Mix = Data.define(:requests) do
      # @param path [String] of a request file: docs/formats/requests.md
      # @raise [InvalidRequestFile] naming the line
      def self.read(path) = new(requests: RequestFile.new(path).requests)

      # @param paths [Array<String>] fetched with GET, all equally often
      def self.of_paths(paths)
        raise UserMistake, "there is no path to ask for; name one, such as --path /" if paths.empty?
        wrong = paths.find { |path| !path.match?(Request::PATH) }
        raise UserMistake, "#{wrong.inspect} is no path; it begins with / and has blanks and the like percent-encoded" if wrong
        new(requests: paths.map { |path| Request.new(path:) })
      end

      def initialize(requests:) = super(requests: requests.dup.freeze)

      # Blocks that each hold the exact mix, shuffled apart: a short run has the right proportions too, and no request
      # keeps meeting the same neighbours.
      #
      # @param seed [Integer] the same one gives the same order
      # @return [Array<Integer>] indexes of requests, at least 1,000 unless there is only one
      def order(seed)
        return [0] if requests.one?
        random = Random.new(seed)
        divisor = requests.map(&:weight).inject(:gcd)
        block = requests.each_with_index.flat_map { |request, index| [index] * (request.weight / divisor) }
        Array.new((1_000.0 / block.size).ceil) { block.shuffle(random:) }.flatten
      end

      # @param status [Integer] of an answer to an unknown request of this mix
      # @return [Boolean] whether any request of the mix expects it
      def expects?(status) = requests.any? { |request| request.expects?(status) }
    end
  end
end
