# frozen_string_literal: true

require "fileutils"
require "open3"
require "puma_tuner"

module Matrix
  # A Ruby with both gems of ours as their packed files install them, and a place for the bundles of apps, which is kept.
  class RubyPlace
    # @return [String] its version
    attr_reader :version

    # @param version [String]
    # @param packages [Array<String>] paths of the packed gems, the probe's first
    # @raise [PumaTuner::UsageError] where there is no such Ruby
    def initialize(version, packages:)
      @version = version
      @ruby = PumaTuner::Prove::Installed.ruby(version)
      @packages = packages
      @place = File.join(PumaTuner::Host::CacheFolder.path, "matrix", version)
    end

    # @return [Array<String>] versions that bin/setup has built
    def self.provided = Dir[File.join(PumaTuner::Host::CacheFolder.path, "ruby-*")].filter_map { |path| path[/ruby-([\d.]+)\z/, 1] }.sort

    # Anew each time, as this is what is tried.
    # @return [void]
    # @raise [PumaTuner::MeasurementFailed]
    def install
      FileUtils.rm_rf(home)
      FileUtils.mkdir_p(home)
      @packages.each { |package| run!("-S", "gem", "install", "--no-document", package) }
    end

    # @param folder [String] of an app with its Gemfile
    # @return [void]
    # @raise [PumaTuner::MeasurementFailed]
    def bundle(folder) = run!("-S", "bundle", "install", "--quiet", folder:)

    # @param folder [String] of an app
    # @return [Hash{String => String}] name => version of its gems
    def gems(folder) = run!("-S", "bundle", "list", folder:).scan(/^  \* (\S+) \(([\d.]+)/).to_h

    # @param words [Array<String>] after `puma_tuner`
    # @return [Array(String, Integer)] all that it printed, and its exit code
    def puma_tuner(*words, folder:, limit_s:)
      log = File.join(folder, "puma_tuner.log")
      pid = spawn(environment(folder), @ruby, File.join(home, "bin/puma_tuner"), *words, :chdir => folder, :in => File::NULL, %i[out err] => log, :unsetenv_others => true, :pgroup => true)
      status = waited(pid, limit_s)
      [File.read(log, encoding: Encoding::UTF_8).scrub, status]
    ensure
      kill(pid) if pid && status.nil?
    end

    private

    def home = File.join(@place, "home")

    def waited(pid, limit_s)
      (limit_s * 10).to_i.times do
        _, status = Process.wait2(pid, Process::WNOHANG)
        return status.exitstatus || 128 + status.termsig if status
        sleep 0.1
      end
      nil
    end

    def kill(pid)
      Process.kill(:KILL, -pid)
      Process.wait(pid)
    rescue SystemCallError
      nil # it has ended by now
    end

    # Once more where it fails: gems come over a network.
    def run!(*words, folder: @place)
      output, status = nil
      ATTEMPTS_COUNT.times do
        output, status = Open3.capture2e(environment(folder), "timeout", LIMIT_S.to_s, @ruby, *words, chdir: folder, unsetenv_others: true)
        return output if status.success?
      end
      raise PumaTuner::MeasurementFailed, "#{words[1..2].join(" ")} failed: #{output.lines.last(5).map(&:strip).join(" / ")}"
    end

    ATTEMPTS_COUNT = 2

    # A bundle of Rails takes two minutes to download and to compile, on a busy machine.
    LIMIT_S = 600
    private_constant :ATTEMPTS_COUNT, :LIMIT_S

    def environment(folder)
      {"HOME" => Dir.home, "PATH" => "#{File.dirname(@ruby)}:/usr/local/bin:/usr/bin:/bin", "LANG" => "C.UTF-8", "GEM_HOME" => home, "RACK_ENV" => "production", "RAILS_ENV" => "production",
       "BUNDLE_GEMFILE" => File.join(folder, "Gemfile"), "BUNDLE_PATH" => File.join(@place, "bundle"), "BUNDLE_APP_CONFIG" => File.join(@place, "config"),
       "BUNDLE_SILENCE_ROOT_WARNING" => "1", "XDG_STATE_HOME" => File.join(folder, "state"), "PUMA_TUNER_CACHE" => PumaTuner::Host::CacheFolder.path}
    end
  end
end
