# frozen_string_literal: true

require "mkmf"

# Without it (another Ruby, no compiler) the same simulation runs in Ruby, far slower.
if RUBY_ENGINE == "ruby"
  append_cflags(%w[-std=gnu11 -O3 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden -ffp-contract=off])
  have_library("m")
  create_makefile("puma_tuner_sim/puma_tuner_sim")
else
  File.write("Makefile", dummy_makefile(__dir__).join)
end
