# frozen_string_literal: true

module OtherGenerators
  # What generators that are other people's programs have in common. A subclass says the program's name in PROGRAM and how to
  # install it in INSTALL.
  class Program < Load::Generator
    # To print what it has and to end, on a busy machine.
    ENDING_LIMIT_S = 30

    # @param search_path [String] folders, as in PATH
    def initialize(search_path: ENV.fetch("PATH", ""))
      @search_path = search_path
    end

    def why_not = (self.class::INSTALL unless executable)

    private

    def program = self.class::PROGRAM

    def executable
      @executable ||= @search_path.split(File::PATH_SEPARATOR).map { |folder| File.join(folder, program) }
        .find { |file| File.file?(file) && File.executable?(file) }
    end

    # @return [String] what it prints
    # @raise [LoadToolFailed] when it does not end
    def output_of(command, duration_s)
      limit_s = duration_s + ENDING_LIMIT_S
      output, @status = PumaTuner::Host::Child.output_of(command, limit_s:)
      output or raise PumaTuner::LoadToolFailed, "#{program} did not end within #{limit_s} s and was stopped. Try fewer connections."
    end

    # @param output [String] without figures in it
    # @raise [LoadToolFailed]
    def no_figures(output)
      said = output.lines.last(5).map { |line| "\n  | #{line.chomp}" }.join
      raise PumaTuner::LoadToolFailed, "#{program} gave no figures (#{@status.to_s.sub(/\Apid \d+ /, "")}). Is the server still there? It said:#{said}"
    end

    def refuse(what) = raise(PumaTuner::UsageError, "#{program} #{what}. Our own can do it.")

    # @return [Request]
    def only_request(mix)
      refuse_data(mix)
      return mix.requests.first if mix.requests.one?
      refuse("sends the same request over and over, and this mix has #{mix.requests.size}")
    end

    def refuse_data(mix)
      refuse("cannot fill in values from a data file") if mix.templated?
    end

    def refuse_text(mix)
      refuse("does not look at what a response contains, as has: asks for") if mix.requests.any?(&:expected_text)
    end

    def refuse_reuse(arrivals)
      refuse("cannot think between two requests") if arrivals.think_ns.positive?
      refuse("cannot bound how often a connection is used") if arrivals.reuse
    end

    def refuse_unix(url_base)
      refuse("is not used over unix sockets") if url_base.start_with?("unix:")
    end
  end
end
