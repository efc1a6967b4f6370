# frozen_string_literal: true

require_relative "traffic"

module PumaTuner
  module Labs
    # One of the two services that YJIT is tried on.
    #
    # name: of its folders, here and in the cache; title: as people read it
    # headers: of each GET, so that it may
    YjitService = Data.define(:name, :title, :headers) do
      # @return [String] where its own files are
      def folder = File.join(__dir__, name)

      # @return [String] where its set-up has put the application
      def application = File.join(Lab::Gems.cache, "apps", name)

      # @return [Lab::Bundle] its gems, which its set-up installs
      def bundle = Lab::Bundle.new(gemfile, {}, own: true)

      # @return [String]
      def gemfile = File.join(application, "Gemfile")

      # @param ruby [String] version
      # @return [Boolean] whether set-up has finished, for that Ruby
      def ready?(ruby = RUBY_VERSION)
        File.file?(File.join(application, ".setup", last_step)) && Dir.exist?(File.join(application, "vendor/bundle/ruby", "#{ruby[/\A\d+\.\d+/]}.0"))
      end

      # @param rubies [Array<String>]
      # @raise [UsageError] when it can't be served
      def ensure_set_up(rubies)
        missing = rubies.reject { |ruby| ready?(ruby) }
        return if missing.empty?
        raise UsageError, "#{title} is not set up for Ruby #{missing.join(", ")}. Run: puma_tuner lab setup yjit"
      end

      # @param say [#call] told what takes long
      # @raise [UsageError] when its set-up fails
      def set_up(say)
        say.call("setting up #{title}, which may take some minutes")
        output, status = Open3.capture2e(Lab::Commands.clean_environment, File.join(folder, "setup"), unsetenv_others: true)
        raise UsageError, "#{folder}/setup failed:\n#{output.lines.last(12).map { |line| "  | #{line}" }.join}" unless status.success?
      end

      # @param whole [Boolean] whether with what is left out otherwise
      # @return [YjitTraffic]
      def traffic(whole: false) = YjitTraffic.new(folder, application, headers:, whole:)

      # @param whole [Boolean] as above
      # @return [Integer] kinds of requests that production sends: a line each
      def kinds_count(whole: false) = (whole ? %w[endpoints.txt left_out.txt] : %w[endpoints.txt]).sum { |file| SyntheticLog.read(folder, file).size }

      # @return [Hash{String => String}] factors of a variant that serves it
      def factors = {"gemfile" => gemfile, "app" => File.join(application, "config.ru")}

      private

      # Whose stamp is written last, see its `setup`.
      def last_step = File.read(File.join(folder, "setup")).scan(/^step "[^"]+" (\w+)/).last.first
    end
  end
end
