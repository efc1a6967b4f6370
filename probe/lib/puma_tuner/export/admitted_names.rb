# frozen_string_literal: true

require "json"

module PumaTuner
  module Export
    # Decides which names are kept apart, and which are counted together: the first so many of each kind are kept apart,
    # whichever process of the server was asked first. If each process chose for itself, counters would fall between two
    # scrapes that reach different ones.
    #
    # They stand in a file beside the ledgers, a line each, that only grows; it is looked at when a name is new. A line
    # of which only a part could be written, as where memory ran out, stays, and is skipped.
    class AdmittedNames
      # @param directory [String] of the ledgers
      # @param names_max [Integer] of each kind
      def initialize(directory, names_max)
        @path = File.join(directory, "exported.names")
        @names_max = names_max
        @names = Hash.new { |names, kind| names[kind] = {} }
        @read_bytes = 0
        @amid_line = false
      end

      # @param kind [Symbol] of work
      # @param name [String]
      # @return [String] itself, or OTHER
      def admit(kind, name)
        @names[kind][name] || decide(kind, name)
      end

      private

      def decide(kind, name)
        Probe::LockedFile.open(@path, File::LOCK_EX) do |file|
          catch_up(file)
          write(file, kind, name) unless @names[kind].key?(name) || full?(kind)
        end
        @names[kind][name] ||= Probe::Endpoint::OTHER
      rescue SystemCallError
        # No place for it: better a choice of our own than no figures.
        @names[kind][name] ||= full?(kind) ? Probe::Endpoint::OTHER : name
      end

      # Reads the names that other processes have admitted meanwhile.
      def catch_up(file)
        file.seek(@read_bytes)
        file.each_line do |line|
          kind, name = parsed(line)
          @names[kind.to_sym][name] = name if kind
          @read_bytes += line.bytesize
          @amid_line = !line.end_with?("\n")
        end
      end

      # @return [Array(String, String), nil] nil of a part of a line, and of what else may stand in a damaged file
      def parsed(line)
        pair = JSON.parse(line.force_encoding(Encoding::UTF_8))
        texts = pair.is_a?(Array) && pair.size == 2 && pair.all? { |one| one.is_a?(String) && one.valid_encoding? }
        pair if texts
      rescue JSON::ParserError
        nil
      end

      # Written at once: what Ruby buffers until the file is closed would be counted, and could fail yet.
      def write(file, kind, name)
        line = "#{"\n" if @amid_line}#{JSON.generate([kind, name])}\n"
        file.seek(0, IO::SEEK_END)
        file.sync = true
        file.write(line)
        @names[kind][name] = name
        @read_bytes += line.bytesize
        @amid_line = false
      end

      def full?(kind) = @names[kind].count { |name, admitted| name == admitted } >= @names_max
    end
  end
end
