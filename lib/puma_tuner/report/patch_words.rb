# frozen_string_literal: true

module PumaTuner
  module Report
    # What Advise::Patch says, in words.
    module PatchWords
      WORDS = {
        not_ruby: ->(path:) {
          "#{path} is no Ruby that can be read to its end, so it is left as it is; `ruby -c #{path}` names a " \
            "mistake, but no byte at which Ruby stops reading, such as a NUL"
        },
        settled: ->(line:, rule:, by:, instead:) {
          "`#{line}` (#{rule}) is left out, as #{by} advises `#{instead}`; --only #{rule} takes the other"
        },
        by_command: ->(line:, option:, config:) {
          "`#{line}` is not written: the server is started with #{option}, which goes before #{config}; " \
            "change it there"
        },
        no_config: ->(option:, config:, options:, lines:) {
          told = ["set `#{options.join(" ")}` there, in the place of what it has of these options"] if options.any?
          unset = lines.map { |line| "`#{line}`" }.join(" and ")
          told = [*told, "it has no option for #{unset}, which a file can set that `-C FILE` names"] if lines.any?
          "#{config} is left as it is, as the server is started with #{option} and reads none. Its command decides: " +
            told.join("; ")
        },
        computed: ->(lines:, config:, path:) {
          "code in #{config} computes what #{lines.map { |line| "`#{line}`" }.join(" and ")} would set, so it goes " \
            "into #{path}, which #{config} loads last"
        },
        hooks_of_workers: ->(hooks:, config:) {
          "a single process (`workers 0`) does not run #{hooks.map { |hook| "`#{hook}`" }.join(", ")} of #{config}: " \
            "see that the app needs nothing of what is done there, or do it elsewhere, too"
        },
        pool_by_hand: ->(line:, path:, found:) {
          why = {0 => "it has no such key, or can't be read", 1 => "it has #{found.first}"}
            .fetch(found.size) { "it has #{found.join(", ")}" }
          "`#{line}` is not written into #{path} (#{why}): set it there for the environment that serves"
        },
        variable_first: ->(name:, recorded:) {
          where = recorded ? ", as it was when the app was recorded (#{recorded}): set it there, too" : ""
          "#{name} goes before the number in the file wherever it is set#{where}"
        }
      }.freeze

      # @param statement [Statement]
      # @return [String] a clause
      def self.of(statement) = Statements.words(statement, WORDS)
    end
  end
end
