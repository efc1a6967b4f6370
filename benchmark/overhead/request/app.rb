# frozen_string_literal: true

module Overhead
  # Says "hello", after a wait where the environment has one.
  APP = if (wait_s = ENV["WAIT_S"]&.to_f)
    lambda do |_env|
      sleep(wait_s)
      [200, {"content-type" => "text/plain", "content-length" => "5"}, ["hello"]]
    end
  else
    ->(_env) { [200, {"content-type" => "text/plain", "content-length" => "5"}, ["hello"]] }
  end
end
