# frozen_string_literal: true

module PumaTuner
  module Load
    # Several requests, each sent as often as its weight says. Frozen.
    #
    # data: DataFile whose values stand for {{names}} in requests, or nil
    # set_up: Requests that each client sends once, in this order, before all others; none, and clients keep nothing
    # ahead: places of requests that come once before the exact mix, as for a server that is to be warm for each of them
    Mix = Data.define(:requests, :data, :set_up, :ahead) do
      # @param path [String] of a request file: docs/reference/requests.md
      # @param data_path [String, nil] of a data file, where requests have {{names}}
      # @return [Mix]
      # @raise [InvalidRequestFile] naming the line
      def self.read(path, data_path: nil)
        data = data_path && DataFile.read(data_path)
        file = RequestFile.new(path, data:)
        new(requests: file.requests, set_up: file.set_up, data:)
      end

      # @param paths [Array<String>] fetched with GET, all equally often
      # @return [Mix]
      # @raise [UsageError] when there is no path, or one that can't be asked for
      def self.of_paths(paths)
        raise UsageError, "there is no path to request; name one, such as --path /" if paths.empty?
        wrong = paths.find { |path| !path.match?(Request::PATH) }
        if wrong
          raise UsageError, "#{Host::Masking.paths(wrong).inspect} is not a path; it begins with /, with spaces and " \
            "the like percent-encoded"
        end
        new(requests: paths.map { |path| Request.new(path:) })
      end

      def initialize(requests:, data: nil, set_up: [], ahead: [])
        super(requests: requests.dup.freeze, data:, set_up: set_up.dup.freeze, ahead: ahead.dup.freeze)
      end

      # A block has at least so many requests. In one of 20 a slow request comes once, so that slow ones hardly ever
      # meet, as those of users do; among 250, 20 requests that are under way at a time are nearly as by chance.
      const_set(:LEAST_BLOCK_COUNT, 250)

      # Blocks that each hold the exact mix, shuffled apart: a short run has the right proportions too, and no request
      # keeps meeting the same neighbours.
      #
      # @param seed [Integer] the same one gives the same order
      # @return [Array<Integer>] indexes of requests, at least 1,000 unless there is only one
      def order(seed)
        return [0] if requests.one?
        random = Random.new(seed)
        divisor = requests.map(&:weight).inject(:gcd)
        mix = requests.each_with_index.flat_map { |request, index| [index] * (request.weight / divisor) }
        block = mix * self.class::LEAST_BLOCK_COUNT.fdiv(mix.size).ceil
        [*ahead, *Array.new((1_000.0 / block.size).ceil) { block.shuffle(random:) }.flatten]
      end

      # @return [Boolean] whether any request has values of a data file
      def templated? = !data.nil? && requests.any?(&:templated?)

      # @param request [Request] of this mix
      # @param seed [Integer] the same one gives the same order of rows, in all requests
      # @return [Enumerator::Lazy<Request>] what is sent for it, in turn: itself, or one for each row
      def filled(request, seed)
        return [request].lazy unless data && request.templated?
        template = Template.new(request)
        rows(seed).lazy.map { |row| template.filled(row) }
      end

      # @param seed [Integer]
      # @return [Array<Hash{String => String}>] of the data file, in the order in which they are taken
      def rows(seed) = data.rows.shuffle(random: Random.new(seed))

      # @param status [Integer] of a response to an unknown request of this mix
      # @return [Boolean] whether any request of the mix expects it
      def expects?(status) = requests.any? { |request| request.expects?(status) }
    end
  end
end
