# frozen_string_literal: true

require "test_helper"
require "support/profiles"

class ProfileLayersTest < TunerTest
  include Profiles

  # As perf told them of a Puma with and without YJIT: function, file, path of a method.
  TOLD = {
    ["[JIT] ArticlesController#index@/app/a.rb:3", "/tmp/perf-812.map", "/app/a.rb"] => "methods",
    ["[JIT] Puma::Client#try_to_finish@/gems/puma-8.0.2/lib/puma/client.rb:9", "/tmp/perf-812.map", "/gems/puma-8.0.2/lib/puma/client.rb"] => "puma",
    ["puma_parser_execute", "/gems/puma-8.0.2/lib/puma/puma_http11.so"] => "puma",
    ["vm_exec_core", "/opt/ruby/bin/ruby"] => "interpreter",
    ["vm_exec_core", "/usr/lib/x86_64-linux-gnu/libruby-3.4.so.3.4.5"] => "interpreter",
    ["rb_gc_mark_children", "/opt/ruby/bin/ruby"] => "gc",
    ["gc_sweep_step", "/opt/ruby/bin/ruby"] => "gc",
    ["newobj_alloc", "/opt/ruby/bin/ruby"] => "gc",
    ["thread_sched_to_running_common", "/opt/ruby/bin/ruby"] => "threads",
    ["generate_json", "/opt/ruby/lib/ruby/3.4.0/x86_64-linux/json/ext/generator.so"] => "extensions",
    ["rb_mysql_result_fetch", "/gems/mysql2-0.5.6/lib/mysql2/mysql2.so"] => "extensions",
    ["__memmove_avx_unaligned_erms", "/usr/lib/x86_64-linux-gnu/libc.so.6"] => "libraries",
    ["__vdso_clock_gettime", "[vdso]"] => "libraries",
    ["tcp_sendmsg_locked", "[kernel.kallsyms]"] => "kernel",
    ["nf_conntrack_in", "[nf_conntrack]"] => "kernel"
  }.freeze

  test "a function is of the layer that its file is of" do
    assert_equal TOLD, TOLD.to_h { |words, _| [words, Profile::Layers.of(*words)] }
  end

  test "a layer has what its functions take by themselves, and all of them have the whole" do
    stack = lambda do |amount, *layers|
      Profile::Stack.new(frames: layers.map { |layer| Profile::Frame.new(name: "f", path: nil, line: nil, layer:) }, amount:, thread: 1, at_ns: nil)
    end
    told = Profile::Aggregate.new([samples(list: [stack.call(3, "interpreter", "kernel"), stack.call(2, "methods"), stack.call(1, "kernel", "interpreter")])]).layers
    assert_equal [["methods", 2], ["interpreter", 1], ["kernel", 3]], told.map { |layer| [layer.name, layer.amount] }
    assert_empty Profile::Aggregate.new([samples({"A#a" => 3})]).layers
  end

  test "the report tells them from above" do
    told = costs(samples({"A#a" => 10})).with(layers: [Profile::Layer.new(name: "puma", amount: 4), Profile::Layer.new(name: "kernel", amount: 6)])
    text = ->(one) { PumaTuner::Report.render(one, format: :text, verbose: true) }
    assert_match(/By layer.*Puma\s+40\.0.*kernel\s+60\.0/m, text.call(told))
    refute_match(/By layer/, text.call(told.with(layers: [])))
  end
end
