# frozen_string_literal: true

puts "placeholder"
