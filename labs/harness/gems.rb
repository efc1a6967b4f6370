# frozen_string_literal: true

require "fileutils"
require "open3"

module PumaTuner
  module Lab
    # The gems that labs run with: exact versions, several of one gem side by side, in a folder for each Ruby, outside
    # of any bundle. `install` is the only thing here that downloads; labs/support/gems.rb activates them in a child.
    #
    # Each gem is pinned by the lab, dependencies too, and RubyGems is told to install no other: what is measured today
    # is what is measured in a year.
    module Gems
      # ruby: the version it is for, such as "3.4.5"
      Pin = Data.define(:name, :version, :ruby) do
        def to_s = "#{name} #{version}"
      end

      # Of RubyGems, when it fails in a way that it does not expect.
      BACKTRACE = /:\d+:in /

      module_function

      # @param versions [Hash{String => String, Array<String>}] by gem
      # @param rubies [Array<String>] versions
      # @return [Array<Pin>]
      def pins(versions, rubies: [RUBY_VERSION])
        rubies.flat_map do |ruby|
          versions.flat_map { |name, list| Array(list).map { |version| Pin.new(name:, version:, ruby:) } }
        end
      end

      # @return [String] where everything is that can be had again
      def cache = Host::CacheFolder.path

      # @return [String] of all Rubies
      def root = File.join(cache, "labs")

      # @return [String] for one of them
      def folder(ruby) = File.join(root, ruby)

      # RubyGems writes a gem's specification last: where there is one, all of
      # it is there. Its name may end in a platform.
      def installed?(pin)
        Dir[File.join(folder(pin.ruby), "specifications", "#{pin.name}-#{pin.version}{,-*}.gemspec")].any?
      end

      # @return [Array<Pin>]
      def missing(pins) = pins.reject { |pin| installed?(pin) }

      # @param version [String]
      # @return [String] path of that Ruby
      # @raise [UsageError] when it is not here
      def ruby(version)
        return Gem.ruby if version == RUBY_VERSION
        Prove::Installed.ruby(version)
      rescue UsageError => error
        raise UsageError, "Ruby #{version} is needed. #{error.message} " \
          "In a checkout, `bin/setup --ruby #{version}` provides it."
      end

      # @param lab [Object]
      # @param quick [Boolean]
      # @raise [UsageError] when a Ruby or a gem of the lab is not here
      def ensure_installed(lab, quick:)
        pins = lab.gems(quick:)
        pins.map(&:ruby).uniq.each { |version| ruby(version) }
        missing = missing(pins)
        return if missing.empty?
        raise UsageError, "the lab #{lab.name} needs gems that are not installed: " \
          "#{missing.group_by(&:ruby).map { |version, all| "#{all.join(", ")} (for Ruby #{version})" }.join("; ")}. " \
          "Run: puma_tuner lab setup #{lab.name}#{" --quick" if quick}"
      end

      # @param pins [Array<Pin>] those that are there are left alone
      # @param say [#call] told what takes long
      # @return [Array<Pin>] those that were installed now
      # @raise [UsageError] when they can't be had
      def install(pins, say: ->(_) {})
        missing(pins).group_by(&:ruby).each { |version, wanted| install_for(version, wanted, say) }.values.flatten
      end

      def install_for(version, pins, say)
        program = ruby(version)
        FileUtils.mkdir_p(folder(version))
        File.open(File.join(folder(version), "lock"), "w") do |lock|
          lock.flock(File::LOCK_EX)
          wanted = missing(pins)
          next if wanted.empty? # somebody else has, meanwhile
          say.call("installing for Ruby #{version}: #{wanted.join(", ")}")
          run_install(program, version, wanted)
        end
      end

      def run_install(program, version, pins)
        words = [program, "-S", "gem", "install", "--no-document", "--ignore-dependencies", "--install-dir",
          folder(version), *pins.map { |pin| "#{pin.name}:#{pin.version}" }]
        output, status = Open3.capture2e(Commands.clean_environment, *words, unsetenv_others: true)
        return if status.success? && missing(pins).empty?
        told = output.lines.grep_v(BACKTRACE).last(10)
        lines = told.map { |line| "  | #{line}" }
        raise UsageError, "the gems #{pins.join(", ")} can't be installed for Ruby #{version}:\n#{lines.join}"
      end
    end
  end
end
