# frozen_string_literal: true

# Can the GVL events of M:N threads be told apart? Six threads that sleep, compute and wait for sockets; prints, as JSON, what their events looked like.
#
#     RUBY_MN_THREADS=1 ruby labs/07-myth-busters/mn/events.rb      needs a compiler
require "json"
require "open3"
require "rbconfig"
require "socket"
require "tmpdir"

Dir.mktmpdir do |folder|
  source = "require \"mkmf\"; $srcdir = #{__dir__.dump}; $VPATH << #{__dir__.dump}; create_makefile(\"mn_events\", #{__dir__.dump})"
  [[RbConfig.ruby, "-e", source], ["make"]].each do |command|
    output, status = Open3.capture2e({"RUBYOPT" => nil}, *command, chdir: folder)
    abort("#{command.first} failed:\n#{output}") unless status.success?
  end
  require File.join(folder, "mn_events")
end

ROUNDS_COUNT = 60
WAYS = [-> { sleep(0.002) }, -> { 20_000.times { |number| number * number } }, -> {
  UNIXSocket.pair.then { |one, other| [one, other].tap { one.write("x") && other.read(1) && IO.select([other], nil, nil, 0.002) }.each(&:close) }
}].freeze

MNEvents.start
Array.new(6) { |index| Thread.new { ROUNDS_COUNT.times { WAYS.fetch(index % WAYS.size).call } } }.each(&:join)
events = MNEvents.stop

AFTER = {"ready" => "suspended", "resumed" => "ready", "suspended" => "resumed"}.freeze
found = {holds: 0, out_of_order: 0, holds_that_change_native_thread: 0, ready_from_another_native_thread: 0}
events.group_by(&:first).each_value do |of_thread|
  of_thread.sort_by.with_index { |event, place| [event.last, place] }.each_cons(2) do |(_, before, before_native, _), (_, event, native, _)|
    found[:out_of_order] += 1 unless AFTER.fetch(event) == before
    found[:ready_from_another_native_thread] += 1 if event == "ready" && native != before_native
    next unless event == "suspended"
    found[:holds] += 1
    found[:holds_that_change_native_thread] += 1 if native != before_native
  end
end
shared = events.group_by { |_, _, native, _| native }.values.count { |all| all.select { |_, event| event == "resumed" }.map(&:first).uniq.size > 1 }
puts JSON.generate(ruby: RUBY_VERSION, mn: ENV["RUBY_MN_THREADS"] == "1", threads: events.map(&:first).uniq.size, native_threads_that_several_run_on: shared, **found)
