# frozen_string_literal: true

require "fileutils"

module PumaTuner
  module CLI
    # Decides where a file goes that the user has named no place for: into one folder below the app's `tmp`, so that
    # nothing lies among the app's own files, and git does not see it. Each command tells the path.
    module Results
      FOLDER = "tmp/puma_tuner"

      class << self
        # @param given [String, nil] what the user has said; it stays as it is
        # @param name [String] of the file otherwise
        # @param err [IO] told when the app's folder can't be written to
        # @param options [Hash] of the command: see app_folder
        # @return [String]
        def path(given, name, err:, **options)
          return given if given
          app = app_folder(**options).then { |folder| File.directory?(folder) ? folder : Dir.pwd }
          folders = [File.join(app, FOLDER), File.join(Dir.pwd, FOLDER), File.join(Host::CacheFolder.path, "results")]
          folders.uniq.each_with_index do |folder, index|
            next unless make(folder)
            if index.positive?
              err.puts("puma_tuner: nothing can be written in #{File.join(app, FOLDER)}; results go to #{folder}")
            end
            return File.join(folder, name)
          end
          raise UsageError, "cannot write #{name}: #{app}, this folder and #{Host::CacheFolder.path} are not " \
            "writable. " \
            "Give another place."
        end

        # @return [String] place for what is kept beside a result, wherever that goes
        def beside(output, name, err:, **) = (output == Output::STANDARD_OUTPUT) ? path(nil, name, err:, **) : output

        # Options of the command say where the app is.
        #
        # @param app [Array<String>] of Options::App
        # @param recorded [String] a file that an earlier stage has written
        # @return [String] folder of the app; the current one when it is not known
        def app_folder(app: [], directory: nil, block: nil, recorded: nil, **)
          file = block || app.first(1).find { |word| word.end_with?(".ru") || (app.one? && Options::App.rackup?(word)) }
          return File.dirname(File.absolute_path(file)) if file
          return File.absolute_path(app.first) if app.one? && File.directory?(app.first)
          in_results = recorded && File.dirname(File.absolute_path(recorded))
          return in_results.delete_suffix("/#{FOLDER}") if in_results&.end_with?("/#{FOLDER}")
          File.expand_path(directory || ".")
        end

        # Removes a folder that was made for nothing, as the command ended before it had a result.
        def remove_empty
          made.reverse_each { |folder| remove(folder) }
          made.clear
        end

        private

        # @return [Boolean] whether it is there, and can be written to
        def make(folder)
          return File.writable?(folder) if File.directory?(folder)
          missing = [File.dirname(folder), folder].reject { |path| File.exist?(path) }
          FileUtils.mkdir_p(folder)
          made.concat(missing)
          File.write(File.join(folder, ".gitignore"), "*\n")
          true
        rescue SystemCallError
          false
        end

        def remove(folder)
          File.unlink(File.join(folder, ".gitignore")) if Dir.children(folder) == [".gitignore"]
          Dir.rmdir(folder) if Dir.empty?(folder)
        rescue SystemCallError
          nil # somebody else has
        end

        def made = (@made ||= [])
      end
    end
  end
end
