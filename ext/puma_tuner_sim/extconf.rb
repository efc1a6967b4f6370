# frozen_string_literal: true

require "mkmf"

# The Makefile names the files that were there when it was made: whoever adds one changes this file, too, or runs rake clobber.
# Last added: locks.c, waits.c, background.c.

# Without it (another Ruby, no compiler) nothing is predicted.
if RUBY_ENGINE == "ruby"
  append_cflags(%w[-std=gnu11 -O3 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden -ffp-contract=off])
  have_library("m")
  create_makefile("puma_tuner_sim/puma_tuner_sim")
else
  File.write("Makefile", dummy_makefile(__dir__).join)
end
