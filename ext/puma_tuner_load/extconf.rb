# frozen_string_literal: true

require "mkmf"

# The Makefile names the files that were there when it was made: whoever adds one changes this file, too, or runs rake clobber.
# Last added: events_poll.c.

# Where there is no poll either, and on another Ruby, the gem installs without it. `--enable-poll` takes poll where there is epoll.
if RUBY_ENGINE == "ruby" && have_func("poll", "poll.h")
  have_header("sys/epoll.h") && have_header("sys/timerfd.h") unless enable_config("poll")
  append_cppflags(%w[-D_GNU_SOURCE])
  have_header("sys/prctl.h")
  have_func("accept4", "sys/socket.h")
  have_func("sched_setaffinity", "sched.h")
  append_cflags(%w[-std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden])
  create_makefile("puma_tuner_load/puma_tuner_load")
else
  File.write("Makefile", dummy_makefile(__dir__).join)
end
