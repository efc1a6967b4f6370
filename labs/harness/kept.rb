# frozen_string_literal: true

require "digest"
require "fileutils"
require "json"

module PumaTuner
  module Lab
    # What a long run has measured so far, in a folder beside its finding: an interruption then costs no more than the
    # round, or the part, at hand. A run that goes on takes up what was planned the same, in the same version of the lab
    # and on a machine of the same kind; everything else is measured anew. A finding is of one commit: what another has
    # measured is refused.
    class Kept
      # Of short runs nothing is kept.
      module Nothing
        def self.journal(_title, _plan) = Prove::Rounds::Nothing

        def self.part(_name) = yield

        def self.any? = false

        def self.remove = nil
      end

      # @param lab [Object]
      # @param folder [String] made when there is something to keep
      # @param options [Hash] of the run
      # @param commit [Commit, nil] that measures
      # @return [Kept]
      # @raise [UsageError] when the folder has parts of another commit
      def self.of(lab, folder, commit: Commit.of(FOLDER), **options)
        machine = Probe::MachineFacts.read
        new(folder, commit:, same: {"lab" => lab.name, "options" => options.to_a, "version" => [VERSION, RUBY_VERSION],
                                    "machine" => [machine.cpu_model, machine.cores_count],
                                    "files" => checksum(Lab.folder_of(lab))})
      end

      # Of what is measured and measures: neither pages nor kept findings, of other labs in the folder, too.
      def self.checksum(folder)
        files = Dir["**/*", base: folder].grep_v(%r{\.md\z|\Afindings/}).sort.map { |path| File.join(folder, path) }
        Digest::SHA256.hexdigest(files.select { |path| File.file?(path) }.map { |path| File.binread(path) }.join)
      end
      private_class_method :checksum

      # @param folder [String] made when there is something to keep
      # @param same [Hash{String => Object}] what must be the same for a run to go on
      # @param commit [Commit, nil]
      # @raise [UsageError] when the folder has parts of another commit
      def initialize(folder, same:, commit: nil)
        @folder = folder
        @same = JSON.generate(same)
        @commit = Provenance.words(commit)
        @names = Hash.new(0)
        ensure_same_commit
      end

      # @return [Boolean] whether there is something
      def any? = Dir.exist?(@folder) && !Dir.empty?(@folder)

      # Rounds of a proof, see Prove::Rounds.
      #
      # @param title [String, nil]
      # @param plan [Hash{String => Object}] of the proof
      # @return [Prove::Journal]
      def journal(title, plan)
        path = place("rounds", title, plan)
        Prove::Journal.new(path, plan:, resume: File.exist?(path))
      end

      # @param name [String]
      # @yieldreturn [Object] what is to be kept: values, no processes or files
      # @return [Object] what an earlier run has kept, or the block's
      # @raise [UsageError] when it can't be written
      def part(name)
        path = place("part", name)
        return read(path) if File.exist?(path)
        yield.tap { |value| write(path, value) }
      end

      # All that was kept goes, as the finding has it.
      def remove = FileUtils.rm_rf(@folder)

      private

      def commit_file = File.join(@folder, "commit")

      def ensure_same_commit
        return unless any?
        kept = File.file?(commit_file) ? File.read(commit_file) : "a commit that is not told"
        return if kept == @commit
        raise UsageError, "#{@folder} was measured with #{kept}, and this is #{@commit}: a finding is of one commit. " \
          "Check that one out to go on, or remove the folder to begin anew."
      end

      # The same title comes with the same plan twice only in a lab that measures it twice, in its order.
      def place(kind, title, plan = nil)
        planned = Digest::SHA256.hexdigest(JSON.generate([@same, title, plan]))[0, 12]
        time = (@names[[kind, planned]] += 1)
        FileUtils.mkdir_p(@folder, mode: 0o700)
        AtomicFile.write(commit_file, @commit) unless File.exist?(commit_file)
        File.join(@folder, "#{title.to_s.gsub(/\W+/, "-")}-#{planned}-#{time}.#{kind}")
      rescue SystemCallError => error
        raise UsageError, "cannot write to #{@folder}: #{error.message}. Give another --output."
      end

      # Marshal makes any object that a file names: only one's own are read.
      def read(path)
        raise UsageError, "#{path} belongs to another user; remove it, and start again" unless File.owned?(path)
        Marshal.load(File.binread(path)) # rubocop:disable Security/MarshalLoad
      end

      def write(path, value)
        AtomicFile.write(path, Marshal.dump(value))
      rescue SystemCallError => error
        raise UsageError, "cannot save what was measured: #{error.message}. Give another --output."
      end
    end
  end
end
