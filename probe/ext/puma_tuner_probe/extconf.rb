# frozen_string_literal: true

require "mkmf"

# Per-thread data beside GVL events came with Ruby 3.3; 3.2 has the events without knowing whose they are.
# Where it is missing (JRuby, TruffleRuby, other systems) the gem installs without the extension and says what it can't see.
if RUBY_ENGINE == "ruby" && have_func("rb_internal_thread_specific_get", "ruby/thread.h") &&
    # See platform.h: a thread's CPU clock as Linux numbers it, which no function tells, or Darwin's.
    (have_macro("__linux__") ? have_func("posix_fallocate", "fcntl.h") : have_header("mach/mach.h") && have_func("clock_gettime_nsec_np", "time.h"))
  append_cflags(%w[-std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden])
  # See Probe::Extension.
  create_makefile("puma_tuner/probe/native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner_probe")
else
  File.write("Makefile", dummy_makefile(__dir__).join)
end
