# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "../support/native"

module Overhead
  # The probe without one part or another, so that the page can say where its cost goes. The extension's sources are compiled as they
  # are; the linker leaves calls of the part (which are all from another file) to a function that does nothing.
  module Parts
    SOURCES = File.expand_path("../../probe/ext/puma_tuner_probe", __dir__)
    FEATURE_FOLDER = "puma_tuner/probe/native/#{RUBY_VERSION[/\A\d+\.\d+/]}"

    # Variant's key => the functions that do nothing in it. Each leaves out what the one before does, and more.
    WITHOUT = {
      "no_blame" => %w[pt_blame_hold pt_blame_wait pt_blame_settle pt_blame_window_ends],
      "no_steps" => %w[pt_blame_hold pt_blame_wait pt_blame_settle pt_blame_window_ends pt_window_step pt_ledger_trace]
    }.freeze

    # Variant's key => a file that is loaded after the probe, in the server alone.
    RUBY = {"unnamed" => File.join(__dir__, "parts/unnamed.rb"), "unrecorded" => File.join(__dir__, "parts/unrecorded.rb")}.freeze

    class << self
      # @param folder [String]
      # @raise [PumaTuner::UsageError] when they can't be built here
      def build(folder)
        WITHOUT.each do |key, functions|
          target = File.join(library(folder, key), FEATURE_FOLDER)
          FileUtils.mkdir_p(target)
          objects = File.join(folder, "objects-#{key}")
          FileUtils.mkdir_p(objects)
          compile(objects, functions)
          FileUtils.cp(File.join(objects, "puma_tuner_probe.so"), target)
        end
      end

      # @return [String] for the load path, in front of the probe's own
      def library(folder, key) = File.join(folder, "library-#{key}")

      private

      def compile(folder, functions)
        File.write(File.join(folder, "nothing.c"), functions.map { |name| "void __wrap_#{name}(void) {}\n" }.join)
        wrap = functions.map { |name| "-Wl,--wrap=#{name}" }.join(" ")
        Bench::Native.run(folder, RbConfig.ruby, "--disable-gems", File.join(SOURCES, "extconf.rb"))
        Bench::Native.run(folder, "cc", "-fPIC", "-c", "nothing.c", "-o", "nothing.o")
        Bench::Native.run(folder, "make", "LOCAL_LIBS=nothing.o #{wrap}")
      end
    end
  end
end
