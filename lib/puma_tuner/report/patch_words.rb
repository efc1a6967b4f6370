# frozen_string_literal: true

module PumaTuner
  module Report
    # What Advise::Patch says, in words.
    module PatchWords
      WORDS = {
        not_ruby: ->(path:) { "#{path} is no Ruby that can be read, so it is left as it is; see `ruby -c #{path}`" },
        settled: ->(line:, rule:, by:, instead:) {
          "`#{line}` (#{rule}) is left out, as #{by} advises `#{instead}`; --only #{rule} takes the other"
        },
        by_command: ->(line:, option:, config:) {
          "`#{line}` is not written: the server is started with #{option}, which goes before #{config}; " \
            "change it there"
        },
        computed: ->(lines:, config:, path:) {
          "code in #{config} computes what #{lines.map { |line| "`#{line}`" }.join(" and ")} would set, so it goes " \
            "into #{path}, which #{config} loads last"
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
