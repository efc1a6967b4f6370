# frozen_string_literal: true

require "fileutils"
require "io/console"

module PumaTuner
  module CLI
    # Puts a command's value where it belongs: text on standard output, files where asked for.
    module Output
      module_function

      # Instead of a file: the value itself on standard output, and no text.
      STANDARD_OUTPUT = "-"

      # What an app is started by, and no result of ours is called like.
      PROGRAM = /\.(rb|ru)\z/

      # Keeps a value, and tells it. Files come first, as the text may have no reader any more; it is told all the same
      # where they have no place.
      #
      # @param path [String, nil] for the value, or STANDARD_OUTPUT
      # @param html [String, nil] a path
      # @param verbose [Boolean] whether the report tells all
      def write(value, out:, err:, path: nil, html: nil, verbose: false)
        written = []
        save(value, path, html) { |line| written << line }
      ensure
        to_file = path != STANDARD_OUTPUT
        out.puts(to_file ? Report.render(value, format: :text, **style(out), verbose:) : Document.dump(value))
        written.each { |line| err.puts(line) }
      end

      # @param path [String, nil] for the value; STANDARD_OUTPUT is no file
      # @param html [String, nil] a path
      def write_files(value, err:, path: nil, html: nil) = save(value, path, html) { |line| err.puts(line) }

      # @yieldparam line [String] what is where
      def save(value, path, html)
        if path && path != STANDARD_OUTPUT
          make_folder(path)
          Document.write(value, path)
          yield "#{name_of(value)}: #{File.expand_path(path)}"
        end
        return unless html
        write_file(html, Report.render(value, format: :html))
        yield "report: #{File.expand_path(html)}"
      end

      # What is rendered already.
      def put(bytes, path, out:) = (path == STANDARD_OUTPUT) ? out.puts(bytes) : write_file(path, bytes)

      def name_of(value) = value.class::KIND.to_s.tr("_", " ")

      # @return [Hash] with which a text is rendered for where it goes
      def style(out) = {color: color?(out), width: width(out)}

      # @return [Integer, nil] columns of a terminal's window, nil where nobody knows
      def width(out)
        columns = out.winsize.last if out.tty? && out.respond_to?(:winsize)
        columns if columns&.positive?
      rescue SystemCallError
        nil
      end

      def color?(out) = out.tty? && ENV["NO_COLOR"].to_s.empty?

      def write_file(path, bytes)
        make_folder(path)
        File.write(path, bytes)
      rescue SystemCallError => error
        raise UsageError, "cannot write #{path}: #{error.message}. Give another place."
      end

      # Another command may have taken the folder of results away, as it had none.
      def make_folder(path) = FileUtils.mkdir_p(File.dirname(path))

      # A place that can't be written to is better found before minutes of work than after.
      def check_writable(*paths)
        files = paths.compact.reject { |path| path == STANDARD_OUTPUT }
        kept = files.reject { |path| File.chardev?(path) } # /dev/null
        twice = kept.group_by { |path| File.expand_path(path) }.values.find { |alike| alike.size > 1 }
        raise UsageError, "#{twice.first} is named for two results. Give each a place of its own." if twice
        files.each do |path|
          why_not = why_not_writable(path)
          raise UsageError, "cannot write #{path}: #{why_not}. Give another place." if why_not
        end
      end

      def why_not_writable(path)
        folder = File.dirname(File.expand_path(path))
        if File.directory?(path) then "it is a folder"
        elsif path.match?(PROGRAM) then "by its name it holds Ruby, which a result would take the place of"
        elsif !File.directory?(folder) then "there is no folder #{folder} to write in"
        elsif File.exist?(path) && !File.file?(path) then ("it must not be written to" unless File.writable?(path))
        elsif !File.writable?(folder) then "nothing can be written in #{folder}"
        end
      end
    end
  end
end
