# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# A pool's thread that rests waits for a condition variable. Up to Ruby 3.4 the running method is then
# Mutex#sleep, from 4.0 on ConditionVariable#wait itself; both are tried here, whatever Ruby this is: the
# second by a method in C that does what 4.0's does.
class RestTest < TunerTest
  time_limit 120

  AS_4_0 = <<~C
    #include <ruby.h>
    static VALUE wait_(int argc, VALUE *argv, VALUE self) { return rb_mutex_sleep(argv[0], argc > 1 ? argv[1] : Qnil); }
    void Init_as_4_0(void) { rb_define_method(rb_const_get(rb_cThread, rb_intern("ConditionVariable")), "wait", wait_, -1); }
  C

  # As Puma's pool does: each turn rests, then serves a request that takes no time.
  SCRIPT = <<~RUBY
    C = PumaTuner::Probe::GvlClock
    C.start
    mutex, condition = Mutex.new, ConditionVariable.new
    rested_ns = nil
    thread = Thread.new do
      requests = Array.new(5) do
        mutex.synchronize { condition.wait(mutex, 0.05) }
        C.request_begin
        PumaTuner::Probe::Parts::TAKEN.zip(C.request_take(false).first).to_h
      end
      sleep 0.001
      [requests.map { |request| request[:lock] }, PumaTuner::Probe::Parts::TOTALS.zip(C.totals(Thread.current)).to_h]
    end
    locks, totals = thread.value
    contended = Thread.new do
      other = Thread.new { mutex.synchronize { sleep 0.05 } }
      Thread.pass until mutex.locked?
      C.request_begin
      mutex.synchronize { 1 }
      PumaTuner::Probe::Parts::TAKEN.zip(C.request_take(false).first).to_h
    end.value
    puts locks.max < 10_000_000, totals[:idle] >= 240_000_000, totals[:lock] < totals[:idle] / 10, contended[:lock] >= 30_000_000
  RUBY

  def run_script(*words, **options)
    out, status = Open3.capture2e({"RUBYOPT" => nil, "RUBYLIB" => nil}, RbConfig.ruby, *words, **options)
    assert status.success?, out
    out
  end

  def assert_rests(*words)
    assert_equal "true\n" * 4, run_script("-I", PumaTuner::Probe::LIBRARY_FOLDER, "-rpuma_tuner/probe", *words, "-e", SCRIPT)
  end

  test "a thread that waits for a condition rests, and one that waits for a mutex does not" do
    assert_rests
  end

  test "a wait that does not call the mutex is rest, too" do
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "as_4_0.c"), AS_4_0)
      run_script("-rmkmf", "-e", "create_makefile('as_4_0')", chdir: folder)
      assert system("make", chdir: folder, out: File::NULL)
      assert_rests("-r", File.join(folder, "as_4_0.so"))
    end
  end
end
