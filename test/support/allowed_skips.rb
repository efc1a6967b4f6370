# frozen_string_literal: true

require "minitest"

# The skips that may happen, each with its reason. Any other skip is a failure: what `bin/setup --test` provides is there, and what no
# machine has is no test.
module AllowedSkips
  # The test's class and what it says => why it may be left out.
  REASONS = {
    /\AMythBusters\w+Test: (not installed: .*bin\/setup --labs|run first: puma_tuner lab setup myth_busters)/ =>
      "lab 07 holds Puma against Go, Falcon, mysql2 and ab: half a gigabyte of packages and minutes of building, for one lab",
    /\AYjitTrafficTest: it is not set up: puma_tuner lab setup yjit/ =>
      "lab 03 measures Doorkeeper and Solidus: two Rails applications with bundles of their own, minutes to install",
    /\AControlGroupTest: the tests run in no control group/ => "a process in the root group has no working set of its own to be told",
    /\AFaultsTest: this kernel gives no namespaces to users/ => "a setting of the machine's, without which nothing can be mounted for a test",
    /\AContainerTest: this kernel gives no namespaces to users/ => "a setting of the machine's, without which nothing can be mounted for a test",
    /\ATopIntegrationTest: perf can't be used here/ => "perf is a program of its own, and the kernel may forbid it",
    /\APerfProfilerTest: the kernel lets only root use perf/ => "a kernel's setting, which no test changes",
    /\AFleetPrometheusTest: this machine has no IPv6/ => "containers often have none",
    /\ACacheFolderTest: takes a root/ => "only root can become a user whom the system does not know",
    /\AServicesTest: takes a root/ => "only root can become two users, one of whom may not look into the other's processes",
    /\A\w+Test: no second Ruby here; bin\/setup --ruby 3\.3\.8/ => "a second Ruby takes six minutes to build, for three tests",
    /\A(Top|Lanes|NarrowReport|Looks)InBrowserTest: no axe-core here/ => "npm has it, which not every machine does",
    /\A(TopIntegration|TrialCommand|Forecasting)Test: this kernel gives no namespaces to users/ => "a setting of the machine's, without which nothing can be mounted for a test",
    /\AWithoutProcTest: no namespace can be made here/ => "a setting of the machine's, as in most containers; all else of it is tried by a /proc that is refused",
    /\A(IntrospectionLab|FalsyCacheLab)Test: its repository was not fetched/ =>
      "GitHub has it, which not every machine reaches: all but the figures of the authors' own scripts was asserted before",
    /\AMistakesTest: no Ruby older than 3\.3/ => "Debian 12 has one, later ones have none"
  }.freeze

  # @param test_class [Class]
  # @param skip [Minitest::Skip]
  # @return [Minitest::Assertion] the skip itself, or the failure that it is
  def self.judge(test_class, skip)
    return skip if REASONS.keys.any? { |pattern| pattern.match?("#{test_class}: #{skip.message}") }
    Minitest::Assertion.new("skipped, which test/support/allowed_skips.rb does not list: #{skip.message}").tap { |failure| failure.set_backtrace(skip.backtrace) }
  end
end
