# frozen_string_literal: true

# Puma on this lab's service, with the gems of the variant. Where it listens and with how many threads, the launcher says.
require_relative "../support/gems"
LabGems.activate

require "puma/cli"
Puma::CLI.new(["--silent", File.join(__dir__, "config.ru")]).run
