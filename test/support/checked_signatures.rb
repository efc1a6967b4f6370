# frozen_string_literal: true

# `ruby -r ./test/support/checked_signatures FILE`: runs tests while each call of the public API is held against its
# signature, arguments, fields and results, and fails at the end for what did not fit.

require "puma_tuner"
require "rbs"
require "rbs/test"
require "securerandom"
require_relative "../../rakelib/public_api"

RBS.logger_level = "error"

module CheckedSignatures
  FOUND = Hash.new(0)

  # Told at the end: an exception in the middle would be taken for the app's, where that is what is tested.
  module Told
    def call(receiver, trace)
      super
    rescue RBS::Test::Tester::TypeError => error
      error.errors.each { |one| FOUND[CheckedSignatures.text(one)] += 1 }
    end
  end

  # @return [String] without the values, which may be as long as a recording
  def self.text(error)
    given = "#{error.value.class}#{" of #{error.value.first.class}" if error.value.is_a?(Array) && error.value.any?}" if error.respond_to?(:value)
    wanted = error.respond_to?(:param) ? "#{error.param.name || "a keyword"} is #{error.param.type}" : ("returns #{error.type}" if error.respond_to?(:type))
    "#{error.klass.inspect.sub(/#<Class:(.+)>/, '\1')} #{error.method_name}: #{wanted || error.method_type}, and was #{given || "called otherwise"}"
  end

  def self.install(folders)
    loader = RBS::EnvironmentLoader.new
    folders.each { |folder| loader.add(path: Pathname(folder)) }
    tester = RBS::Test::Tester.new(env: RBS::Environment.from_loader(loader).resolve_type_names)
    RBS::Test::Tester::MethodCallTester.prepend(Told)
    names = PublicApi::NAMES.map { |name| name[/\A[\w:]+/].sub(/\.\w+\z/, "") }.uniq - ["PumaTuner::Railtie"]
    names.each { |name| tester.install!(Object.const_get(name), sample_size: 100, unchecked_classes: []) }
  end
end

CheckedSignatures.install(%w[sig probe/sig].map { |folder| File.expand_path("../../#{folder}", __dir__) })

at_exit do
  next if CheckedSignatures::FOUND.empty?
  warn CheckedSignatures::FOUND.sort.map { |text, count| "#{text} (#{count} times)" }
  exit!(1)
end
