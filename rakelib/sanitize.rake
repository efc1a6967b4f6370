# frozen_string_literal: true

# Faults of memory and races in the extensions; CONTRIBUTING.md says what each task can find.
namespace :sanitize do
  # Those that go through the extensions.
  tests = %w[blame gvl_clock ledger locks rest].map { |name| "probe/test/native/#{name}_test.rb" } +
    %w[harmless ledgers locks blocking_regions jobs].map { |name| "probe/test/#{name}_test.rb" } +
    %w[native native_doubts self_test set_up].map { |name| "test/load/#{name}_test.rb" } +
    %w[twin simulation known_vectors simulated_locks simulated_switches sweeper].map { |name| "test/predict/#{name}_test.rb" }

  tell = lambda do |what, found|
    abort("#{what}:\n#{found}") unless found.empty?
    puts "#{what}: nothing found"
  end

  exercise = lambda do |name, &run|
    require_relative "../test/support/sanitizer"
    Sanitizer::EXERCISES.each { |script| tell.call("#{name}, #{script}", run.call(script)) }
  end

  desc "Accesses to memory that is not ours, and what C leaves undefined: AddressSanitizer, UBSan"
  task :address do
    exercise.call("address") { |script| Sanitizer::ADDRESS.exercise(script) }
    tell.call("address, tests", Sanitizer::ADDRESS.tests(tests))
  end

  desc "Races between threads: ThreadSanitizer"
  task :thread do
    exercise.call("thread") { |script| Sanitizer::THREAD.exercise(script) }
    tell.call("thread, tests", Sanitizer::THREAD.tests(tests, except: Sanitizer::NOT_FOR_THREAD))
  end

  desc "Objects that the collector does not know of: garbage collected, and what is left moved, at each allocation"
  task(stress: :compile) { exercise.call("stress") { |script| Sanitizer.stress(script) } }

  desc "Accesses to memory that is not ours, in what is shipped: Valgrind"
  task(valgrind: :compile) { exercise.call("valgrind") { |script| Sanitizer.valgrind(script) } }
end

desc "The extensions under all that finds faults of memory and races, for some twenty minutes"
task sanitize: %w[sanitize:address sanitize:thread sanitize:stress sanitize:valgrind]
