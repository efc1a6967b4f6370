# frozen_string_literal: true

# What Ruby runs in a child process; see Child. `-I` brings our library.
require "puma_tuner"

PumaTuner::Block::Child.main(ARGV)
