# frozen_string_literal: true

require "fileutils"
require "securerandom"
require "shellwords"

module PumaTuner
  module Host
    # Documents are handed on: what may be a secret in what they tell of environments and commands is told apart by a keyed hash only, as in
    # Probe::Fingerprint.
    #
    # Each document has a key of its own, made of one of the user's, so that a proof that goes on has the same, and two documents can't be held
    # against each other.
    module Masking
      # Names of what is nobody's business, in options, queries and headers.
      SECRET = /token|secret|passw|pwd|api[-_]?key|auth|cookie|credential|session|signature|\A-?-?key\z/i

      # What nobody keeps secret under a name that says nothing of a secret.
      PLAIN = /\A(\d{1,5}(\.\d+)?|true|false|on|off|yes|no)\z/

      ASSIGNMENT = /\b(env\.)?([A-Za-z_]\w*)=([^,\n]*)/
      QUERY = /([?&])([^=&\s]+)=([^&\s,]*)/
      USER = %r{(?<=://)[^/@\s]+@}
      HEADER = /\A([\w-]+):\s*(.+)\z/m
      OPTION = /\A--?([\w-]+)=(.*)\z/m

      module_function

      # @param path [String] of the document that the proof goes into
      # @return [void]
      def begin(path) = @key = Probe::KeyedHash.of(File.expand_path(path), key: users_key) + Probe::KeyedHash.of("#{File.expand_path(path)} ", key: users_key)

      # @return [String] for Probe::KeyedHash::VARIABLE of processes whose fingerprints are compared
      def key = @key ||= SecureRandom.hex(16)

      # @param value [String]
      # @return [String] "(16 hexadecimal digits)"
      def hide(value) = "(#{Probe::KeyedHash.of(value, key:)})"

      # @param factors [Hash{String => String}] of a variant
      def factors(factors)
        factors.to_h do |name, value|
          next [name, hidden_variable?("env.", name.delete_prefix("env."), value) ? hide(value) : value] if name.start_with?("env.")
          [name, %w[command setup].include?(name) ? shell(value) : value]
        end
      end

      # @param text [String] a line for a shell
      # @return [String] without what may be secret; what is no such line is hidden as a whole
      def shell(text)
        words(Shellwords.split(text)).shelljoin
      rescue ArgumentError
        hide(text)
      end

      # @param words [Array<String>] of a command
      # @return [Array<String>]
      def words(words)
        words.each_with_index.map { |word, index| (index.positive? && names_secret?(words[index - 1])) ? hide(word) : word(word) }
      end

      def names_secret?(word) = word.start_with?("-") && !word.include?("=") && word.match?(SECRET)

      def word(word)
        if (option = OPTION.match(word))
          return "#{word[/\A[^=]*=/]}#{option[1].match?(SECRET) ? hide(option[2]) : word(option[2])}"
        elsif (header = HEADER.match(word)) && header[1].match?(SECRET)
          return "#{header[1]}: #{hide(header[2])}"
        end
        word.gsub(USER) { |user| "#{hide(user)}@" }.gsub(QUERY) { "#{$1}#{$2}=#{hide($3)}" }
          .gsub(ASSIGNMENT) { |whole| hidden_variable?($1, $2, $3) ? "#{$1}#{$2}=#{hide($3)}" : whole }
      end

      # `FOO=bar` before a command, and env.foo=bar of a variant; a factor such as yjit=on is none.
      def hidden_variable?(prefix, name, value)
        return false unless prefix || name.match?(/\A[A-Z][A-Z0-9_]*\z/)
        !name.match?(Probe::Fingerprint::OPEN_VARIABLES) && (name.match?(SECRET) || !value.match?(PLAIN))
      end

      def users_key
        path = File.join(ENV["XDG_STATE_HOME"].to_s.start_with?("/") ? ENV["XDG_STATE_HOME"] : File.join(Dir.home, ".local/state"), "puma_tuner/key")
        FileUtils.mkdir_p(File.dirname(path))
        File.open(path, File::WRONLY | File::CREAT | File::EXCL, 0o600) { |file| file.write(SecureRandom.hex(16)) }
        File.read(path)
      rescue Errno::EEXIST
        File.read(path)
      rescue SystemCallError, ArgumentError
        key # a user without a home: of this run
      end
      private_class_method :names_secret?, :word, :hidden_variable?, :users_key
    end
  end
end
