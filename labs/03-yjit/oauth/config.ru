# frozen_string_literal: true

require_relative "authorization_server"

run Rails.application
