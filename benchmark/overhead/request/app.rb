# frozen_string_literal: true

module Overhead
  hello = ->(_env) { [200, {"content-type" => "text/plain", "content-length" => "5"}, ["hello"]] }
  wait_s = ENV["WAIT_S"]&.to_f

  # Says "hello", after a wait where the environment has one.
  APP = wait_s ? ->(env) { sleep(wait_s) && hello.call(env) } : hello
end
