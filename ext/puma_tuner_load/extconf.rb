# frozen_string_literal: true

require "mkmf"

# The load generator needs epoll and timerfd. Elsewhere the gem installs without it, and other generators can be named.
if RUBY_ENGINE == "ruby" && RUBY_PLATFORM.include?("linux") && have_header("sys/epoll.h") && have_header("sys/timerfd.h")
  append_cppflags(%w[-D_GNU_SOURCE])
  append_cflags(%w[-std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden])
  create_makefile("puma_tuner_load/puma_tuner_load")
else
  File.write("Makefile", dummy_makefile(__dir__).join)
end
