# frozen_string_literal: true

require "shellwords"

module PumaTuner
  module Load
    # A list of requests, one a line, as people write it: docs/reference/requests.md.
    class RequestFile
      METHODS = %w[GET POST PUT PATCH DELETE HEAD].freeze
      WEIGHTS = 1..1_000
      STATUSES = 200..599
      HEADER_NAME = /\A[!#$%&'*+.^_`|~0-9A-Za-z-]+\z/
      HEADER_VALUE = /\A[\t -~]*\z/
      # Said by whoever sends the body; a second opinion would desynchronize client and server.
      OUR_HEADERS = %w[content-length transfer-encoding].freeze
      # Stands in the place of a weight, before what each client sends once.
      SET_UP = "setup"
      PICK = /\A(?<name>[\w-]+)=(?<source>\w+):(?<key>.+)\z/

      # A fault in a line, before its number is known. The line may hold what is nobody's business, and the message ends
      # in the logs of whatever ran the command, so words are told by their number.
      class Problem < StandardError; end

      # @param path [String]
      # @param data [DataFile, nil] whose columns stand for {{names}}
      def initialize(path, data: nil)
        @path = path
        @data = data
      end

      # @return [Array<Request>] at least one
      # @raise [InvalidRequestFile] naming the line
      def requests = parsed.last

      # @return [Array<Request>] that each client sends once, in this order, before all others
      # @raise [InvalidRequestFile] naming the line
      def set_up = parsed.first

      private

      # Set-up lines come first, wherever they stand, as others may use what they pick.
      def parsed
        @parsed ||= begin
          @picked = []
          set_up, others = numbered_lines.partition { |line, _| line.lstrip.match?(/\A#{SET_UP}(?=\s|\z)/o) }
          set_up = set_up.map { |line, number| numbered_request(line, number, set_up: true) }
          if others.empty?
            raise InvalidRequestFile.new(@path, 1, "the file holds no request#{" but set-up lines" if set_up.any?}; " \
              "write one a line, such as: GET /")
          end
          [set_up, others.map { |line, number| numbered_request(line, number) }]
        end
      end

      def numbered_lines
        lines.each.with_index(1).reject { |line, _| line.strip.empty? || line.lstrip.start_with?("#") }
      end

      def lines
        File.read(@path, mode: "r:BOM|UTF-8").lines(chomp: true).map { |line| line.valid_encoding? ? line : line.b }
      rescue SystemCallError => error
        raise UsageError, "cannot read #{@path}: #{error.message}. " \
          "Give the path of a request file (docs/reference/requests.md)."
      end

      def numbered_request(line, number, set_up: false)
        request(line, set_up).tap do |request|
          check_names(request, set_up) if request.templated?
          check_picks(request, set_up)
        end
      rescue Problem => problem
        raise InvalidRequestFile.new(@path, number, problem.message)
      end

      def request(line, set_up)
        words = split(line).dup
        words.shift if set_up
        weight = (!set_up && words.first.match?(/\A-?\d+\z/)) ? weight(words.shift) : 1
        http_method = http_method(words.shift)
        path = path(words.shift)
        options = words.group_by { |word| kind(word) }
        Request.new(weight:, http_method:, path:, headers: headers(options.fetch("header", [])),
          body: only(options["body"]) { |text| body(text) },
          expected_statuses: only(options["expect"]) { |text| statuses(text) },
          expected_text: only(options["has"]) { |text| expected_text(text, http_method) },
          picks: options.fetch("pick", []).map { |word| pick(word, http_method) })
      end

      def check_names(request, set_up)
        template = Template.new(request)
        names = template.names - @picked
        unless @data || names.empty?
          problem("{{#{names.first}}} needs a data file to take its value from; name one with --data" \
            "#{", or pick it in a setup line before" if @picked.any? || set_up}")
        end
        unknown = names - (@data&.columns || [])
        if unknown.any?
          problem("{{#{unknown.first}}} is no column of #{@data.path}; its columns are #{@data.columns.join(", ")}" \
            "#{", and picked are #{@picked.join(", ")}" if @picked.any?}")
        end
        check_values(request, names, set_up)
      end

      def check_values(request, names, set_up)
        in_headers = request.headers.transform_values { |value| Template::Text.new(value).names & names }
        in_headers.each do |header, inside|
          if @data&.rows&.any? { |row| inside.any? { |name| !row.fetch(name).match?(HEADER_VALUE) } }
            problem("the header #{header} would get a value from #{@data.path} that is no line of " \
              "ASCII; a header holds nothing else")
          end
        end
        check_lengths(names) if set_up
      end

      def check_lengths(names)
        max = Session::VALUE_BYTES_MAX
        long = names.find { |name| @data.rows.any? { |row| row.fetch(name).bytesize > max } }
        return unless long
        problem("{{#{long}}} would get a value of more than #{max} bytes; what a setup line uses has no longer ones")
      end

      # Other requests come in any order, so what they pick must have a value before.
      def check_picks(request, set_up)
        request.picks.map(&:name).each do |name|
          if @data&.columns&.include?(name)
            problem("pick:#{name} has the name of a column of #{@data.path}; give it another")
          end
          unless set_up || @picked.include?(name)
            problem("pick:#{name} is picked by no setup line; let one pick it first, " \
              "as other requests come in any order")
          end
        end
        @picked |= request.picks.map(&:name)
      end

      def split(line)
        if line.encoding != Encoding::UTF_8
          problem("it is not UTF-8 text; percent-encode the path, and put other bytes into a file for body:@file")
        end
        @words = Shellwords.split(line)
      rescue ArgumentError
        problem("a quotation mark is never closed; put a backslash before one that is meant literally")
      end

      def place(word) = "word #{@words.index { |one| one.equal?(word) } + 1}"

      def kind(word)
        word[/\A(header|body|expect|has|pick):/, 1] or
          problem("#{place(word)} is not understood; after the path come header:Name=value, body:…, " \
            "expect:…, has:… and pick:…, in quotation marks when they hold a blank")
      end

      def weight(word)
        return word.to_i if WEIGHTS.cover?(word.to_i)
        problem("the weight #{word} is out of bounds; it is a whole number from #{WEIGHTS.min} to #{WEIGHTS.max}")
      end

      def http_method(word)
        return word if METHODS.include?(word)
        problem("#{if word
                     "#{word.match?(/\A[A-Za-z]{1,8}\z/) ? word.inspect : place(word)} is not a method"
                   else
                     "the method is missing"
                   end}; " \
                "a line is: [weight or setup] METHOD /path …, and METHOD one of #{METHODS.join(" ")}")
      end

      def path(word)
        return word if word&.match?(Request::PATH)
        problem("#{word ? "#{place(word)} is not a path" : "the path is missing"}; " \
                "after the method comes a path that begins with /, with spaces and the like percent-encoded")
      end

      def headers(words)
        pairs = words.map { |word| header(word) }
        twice = pairs.map(&:first).group_by(&:downcase).values.find { |names| names.size > 1 }
        problem("the header #{twice.first} is given twice; join its values with a comma") if twice
        pairs.to_h
      end

      def header(word)
        name, value = word.delete_prefix("header:").split("=", 2)
        unless value && name.match?(HEADER_NAME) && value.match?(HEADER_VALUE)
          problem("#{place(word)} is not a header; write header:Name=value")
        end
        problem("the header #{name} follows from the body; leave it out") if OUR_HEADERS.include?(name.downcase)
        # Generators look for it in this spelling, to add none of their own.
        [name.casecmp?("host") ? "Host" : name, value]
      end

      def only(words)
        return unless words
        kind, text = words.first.split(":", 2)
        problem("#{kind}: is given #{words.size} times; give it once") if words.size > 1
        yield text
      end

      def body(text)
        return text unless text.start_with?("@")
        file = File.expand_path(text.delete_prefix("@"), File.dirname(@path))
        File.binread(file)
      rescue SystemCallError, ArgumentError => error # "~name", of a user who is not there
        problem("the body cannot be read: #{error.message}; body:@file is looked for beside the request file")
      end

      def statuses(text)
        words = text.split(",", -1)
        if words.any? && words.all? { |word| word.match?(/\A\d{3}\z/) && STATUSES.cover?(word.to_i) }
          return words.map(&:to_i)
        end
        problem("what follows expect: is not a list of statuses; write one such as expect:200,404")
      end

      def expected_text(text, http_method)
        problem("has: needs a text, such as has:Welcome") if text.empty?
        problem("the response to HEAD has no body to look for a text in; leave out has:") if http_method == "HEAD"
        text
      end

      def pick(word, http_method)
        found = word.delete_prefix("pick:").match(PICK)
        unless found && Pick::SOURCES.include?(found[:source])
          problem("#{place(word)} is not a pick; write such as pick:token=meta:csrf-token, and after the = one of " \
            "#{Pick::SOURCES.map { |source| "#{source}:" }.join(" ")}")
        end
        if http_method == "HEAD" && Pick::IN_BODY.include?(found[:source])
          problem("the response to HEAD has no body from which #{found[:name]} could be picked")
        end
        Pick.new(**found.named_captures(symbolize_names: true))
      end

      def problem(text) = raise(Problem, text)
    end
  end
end
