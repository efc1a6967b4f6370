# frozen_string_literal: true

require "gollum/app"

Precious::App.set(:environment, :production)
Precious::App.set(:gollum_path, File.join(__dir__, "wiki"))
Precious::App.set(:wiki_options, {h1_title: true})

run Precious::App
