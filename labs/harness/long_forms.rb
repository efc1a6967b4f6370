# frozen_string_literal: true

require "fileutils"

module PumaTuner
  module Lab
    # The long forms of labs, one after the other, for hours: each is run, its finding kept and its README written.
    # Whatever ends it, the same call goes on: what this commit has kept is done, and what is half measured is taken up.
    class LongForms
      # Once more at the end for what failed, as on a machine that was busy then.
      ATTEMPTS_COUNT = 2

      INTERRUPTED = 130

      COMMAND = [Gem.ruby, File.expand_path("../../exe/puma_tuner", __dir__)].freeze

      # @param names [Array<String>] of labs; none: all
      # @param folder [String] for what is measured
      # @param out [IO]
      # @param command [Array<String>] puma_tuner
      def initialize(names, folder:, out: $stdout, command: COMMAND)
        @labs = names.empty? ? Lab.all : names.map { |name| Lab.find(name) }
        @folder = folder
        @out = out
        @command = command
        @commit = Commit.of(FOLDER)
      end

      # @return [Commit, nil] that measures
      attr_reader :commit

      # @return [Integer] exit status: 0 when all are done; 3 when some have failed; 130 when somebody interrupted it
      # @raise [UsageError] when what measures has changed meanwhile: the findings are to be of one commit
      def call
        FileUtils.mkdir_p(@folder)
        listening { forms }
      end

      # @return [Array<Object>] labs whose finding is not kept yet
      def left = @labs.reject { |lab| kept?(lab) }

      private

      def forms
        todo = left
        return 0 if todo.empty?
        # Before hours are spent: what one lacks is told by setting up, which leaves alone what is there.
        ready = todo.select do |lab|
          status = puma_tuner("lab", "setup", lab.name)
          return status if status == INTERRUPTED
          status.zero?
        end
        ATTEMPTS_COUNT.times { (left & ready).each { |lab| return INTERRUPTED if form(lab) == INTERRUPTED } }
        left.each { |lab| @out.puts("#{lab.name} has failed, see above; the same command tries again") }
        left.empty? ? 0 : 3
      end

      def form(lab)
        now = Commit.of(FOLDER)
        raise UsageError, "this is #{now} now, and was #{@commit}: findings are of one commit" if now != @commit
        one, all = [[lab], left].map { |labs| labs.sum { |each| each.expected_s(quick: false) }.fdiv(60).ceil }
        @out.puts("#{Time.now.strftime("%H:%M")} #{lab.name}: about #{one} min, of about #{all} min that are left")
        @out.flush
        path = File.join(@folder, "#{lab.name}.json")
        # A finding that is there is replaced only where it is another commit's.
        unless measured?(path)
          status = puma_tuner("lab", "run", lab.name, *("--resume" if Dir.exist?("#{path}.parts")), "--output", path,
            "--html", File.join(@folder, "#{lab.name}.html"))
          return status unless status.zero?
        end
        puma_tuner("lab", "keep", path).tap { |status| FileUtils.rm_rf("#{path}.parts") if status.zero? }
      end

      # What can't be read is measured anew.
      def kept?(lab)
        ours?(Readme.new(lab).finding)
      rescue InvalidDocument
        false
      end

      def measured?(path)
        File.file?(path) && ours?(Document.read(path, :finding))
      rescue InvalidDocument
        false
      end

      def ours?(finding) = !finding.nil? && !finding.quick && finding.commit == @commit

      # One signal reaches the child, whoever gets it: the terminal's goes to all of a process group, and `kill` to one.
      def puma_tuner(*words)
        return INTERRUPTED if @stopped
        @pid = spawn(*@command, *words, pgroup: true)
        _, status = Process.wait2(@pid)
        @pid = nil
        @stopped ? INTERRUPTED : (status.exitstatus || INTERRUPTED)
      end

      def listening
        before = %w[INT TERM].to_h do |name|
          [name, trap(name) do
            @stopped = true
            Process.kill(:INT, @pid) if @pid
          end]
        end
        yield
      ensure
        before.each { |name, handler| trap(name, handler) }
      end
    end
  end
end
