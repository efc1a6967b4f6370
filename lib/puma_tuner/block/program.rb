# frozen_string_literal: true

# Ruby runs this file in a child process; see Child. `-I` brings our library.
require "puma_tuner"

PumaTuner::Block::Child.main(ARGV)
