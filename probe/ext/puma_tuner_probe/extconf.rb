# frozen_string_literal: true

require "mkmf"

# Per-thread data beside GVL events came with Ruby 3.3; 3.2 has the events without knowing whose they are.
# Where it is missing (JRuby, TruffleRuby, Windows) the gem installs without the extension and says what it can't see.
if RUBY_ENGINE == "ruby" && RUBY_PLATFORM.include?("linux") && have_func("rb_internal_thread_specific_get", "ruby/thread.h")
  append_cflags(%w[-std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden])
  # See Probe::Extension.
  create_makefile("puma_tuner/probe/native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner_probe")
else
  File.write("Makefile", dummy_makefile(__dir__).join)
end
