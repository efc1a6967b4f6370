# frozen_string_literal: true

require "fileutils"
require "securerandom"
require "shellwords"

module PumaTuner
  module Host
    # Documents are handed on: what may be a secret in what they tell of environments and commands is told apart by a
    # keyed hash only, as in Probe::Fingerprint. docs/reference/secrets.md says what is hidden, and what is not.
    #
    # Each app has a key of its own, made of one of the user's: what is hidden in several documents of it can be held
    # against each other, as when a proof goes on, and that of two apps can't.
    module Masking
      SECRET = Probe::Fingerprint::SECRET

      # Nobody keeps such a value secret under a name that says nothing of a secret.
      PLAIN = /\A(\d{1,5}(\.\d+)?|true|false|on|off|yes|no)\z/

      # A value ends where another key follows, see Prove::VariantParser: it may hold commas.
      ASSIGNMENT = /(?<![\w.?&-])((?:env|gem|puma)\.)?([A-Za-z_][\w-]*)=((?:(?!,[a-z][\w.]*=)[^\n])*)/
      SEPARATOR = /([,|])/

      # A query, or what is written like one. A comma before a slash stands between two paths.
      QUERY = %r{\?((?:(?!,/)[^\s"'])+)|(?<=&)[^=&\s,]+=[^&\s"']*}
      HEADER = /\A([\w-]+):\s*(.+)\z/m
      OPTION = /\A--?([\w-]+)=(.*)\z/m

      # A line for a shell that is one word, such as `sh -c "app --token abc"`, holds options and names with a colon.
      OPTION_INSIDE = /(?<=[\s"'])(--?[\w-]+)(=|\s+)("[^"]*"|'[^']*'|[^\s"']+)/
      NAME_INSIDE = /([\w-]+["']?\s*:\s*)("[^"]*"|'[^']*'|[^"'\n]+)/

      # Their values are a path, or several; and headers, whatever their name.
      OF_PATHS = /\A--(path|request|url)\z/
      OF_HEADERS = /\A(-H|--header)\z/

      module_function

      # @param folder [String] of the app
      # @return [void]
      def begin(folder)
        @key = Probe::KeyedHash.of(File.expand_path(folder), key: users_key) +
          Probe::KeyedHash.of("#{File.expand_path(folder)} ", key: users_key)
      end

      # @return [String] for Probe::KeyedHash::VARIABLE of processes whose fingerprints are compared
      def key = @key ||= SecureRandom.hex(16)

      # @param value [String]
      # @return [String] "(16 hexadecimal digits)"
      def hide(value) = "(#{Probe::KeyedHash.of(value, key:)})"

      # @param factors [Hash{String => String}] of a variant
      def factors(factors) = factors.to_h { |name, value| [name, factor(name, value)] }

      # @return [String] of a variant, without what may be secret
      def factor(name, value)
        return shell(value) if %w[command setup].include?(name)
        prefix, variable = name.match(/\A(\w+\.)?(.*)\z/m).captures
        hidden_variable?(prefix, variable, value) ? hide(value) : value
      end

      # @param text [String] a line for a shell
      # @return [String] without what may be secret; what is no such line is hidden as a whole
      def shell(text)
        words = Shellwords.split(text)
        (words(words) == words) ? text : words(words).shelljoin
      rescue ArgumentError
        hide(text)
      end

      # @param words [Array<String>] of a command
      # @return [Array<String>]
      def words(words)
        words.each_with_index.map { |word, index| after(index.positive? ? words[index - 1] : "", word) }
      end

      # @param text [String] an address or a path, or several
      # @return [String] without its user, its query's values, and what in its path is neither a word nor a number
      def paths(text)
        without_query(text).gsub(%r{(?<=[/,])(?<!//)[^/?,\s()]+(?=[/?,\s]|\z)}) do |segment|
          Probe::Endpoint::Path.plain?(segment) ? segment : hide(segment)
        end
      end

      # @return [String] this command, as it can be given again
      def own_command(arguments = ARGV) = "puma_tuner #{words(arguments).shelljoin}"

      def after(before, word)
        return hide(word) if before.start_with?("-") && !before.include?("=") && before.match?(SECRET)
        return paths(word) if OF_PATHS.match?(before)
        return word.sub(/:\s*\K.+/m) { |value| hide(value) } if OF_HEADERS.match?(before)
        word(word)
      end

      def word(word)
        if (option = OPTION.match(word))
          return "#{word[/\A[^=]*=/]}#{after(word[/\A[^=]*/], option[2])}"
        elsif (header = HEADER.match(word)) && header[1].match?(SECRET)
          return "#{header[1]}: #{hide(header[2])}"
        end
        without_query(inside(word.gsub(ASSIGNMENT) { "#{$1}#{$2}=#{assigned($1, $2, $3)}" }))
      end

      def without_query(text)
        text.gsub(Probe::Fingerprint::USER) { |user| hide(user) }
          .gsub(QUERY) { ($1) ? "?#{parameters($1)}" : parameters($&) }
      end

      # Masks the parameters of a query. Text that has no name counts as a value.
      def parameters(query)
        query.split("&", -1).map { |pair|
          name, value = pair.include?("=") ? pair.split("=", 2) : [nil, pair]
          [*name, value.empty? ? "" : hide(value)].join("=")
        }.join("&")
      end

      def inside(word)
        word.gsub(OPTION_INSIDE) { $1.match?(SECRET) ? "#{$1}#{$2}#{hide($3)}" : $& }
          .gsub(NAME_INSIDE) { $1.match?(SECRET) ? "#{$1}#{hide($2)}" : $& }
      end

      # Masks each of several values by itself, as variants are told apart by them.
      def assigned(prefix, name, value)
        return value unless hidden_variable?(prefix, name, value)
        parts = value.split(SEPARATOR, -1).map do |part|
          next part if part.match?(SEPARATOR) || part.empty?
          hidden_variable?(prefix, name, part) ? hide(part) : part
        end
        parts.join
      end

      # `FOO=bar` before a command, and env.foo=bar of a variant; a factor such
      # as yjit=on is none, nor is a gem called after what it is for.
      def hidden_variable?(prefix, name, value)
        return false if prefix == "gem."
        return true if name.match?(SECRET)
        return false unless prefix == "env." || name.match?(/\A[A-Z][A-Z0-9_]*\z/)
        name.match?(Probe::Fingerprint::OPEN_VARIABLES) ? value.match?(Probe::Fingerprint::USER) : !value.match?(PLAIN)
      end

      # Returns the user's key, which is made by whichever of several runs comes first.
      def users_key
        path = StateFile.path("key") or return key # of this run, for a user without a home
        FileUtils.mkdir_p(File.dirname(path))
        File.open(path, File::RDWR | File::CREAT, 0o600) do |file|
          file.flock(File::LOCK_EX)
          kept = file.read
          next kept if kept.b.match?(/\A\h{32}\z/) # whatever is there
          file.truncate(0)
          file.rewind
          SecureRandom.hex(16).tap { |key| file.write(key) }
        end
      rescue SystemCallError
        key # of this run, where nothing can be written
      end
      private_class_method :after, :word, :without_query, :parameters, :inside, :assigned, :hidden_variable?, :users_key
    end
  end
end
