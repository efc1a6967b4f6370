# frozen_string_literal: true

require "test_helper"

class EndpointTest < TunerTest
  def name_of(path, endpoint: PumaTuner::Measure::Endpoint.new, **env)
    endpoint.name({"REQUEST_METHOD" => "GET", "PATH_INFO" => path, "SCRIPT_NAME" => ""}.merge(env))
  end

  test "a plain path is its own name" do
    assert_equal "GET /articles", name_of("/articles")
  end

  test "numbers, UUIDs and long hexadecimal words are taken out" do
    assert_equal "GET /articles/:id/edit", name_of("/articles/123/edit")
    assert_equal "GET /u/:id", name_of("/u/0b0d4bc4-3f9a-4d7e-8f11-6f5c9d1f6a10")
    assert_equal "GET /blob/:id.png", name_of("/blob/0123456789abcdef.png")
  end

  test "words with digits in them stay" do
    assert_equal "GET /v2/top10", name_of("/v2/top10")
  end

  test "Rails' route is the name, with the place where its app is mounted" do
    assert_equal "GET /shop/products/:slug",
      name_of("/products/shoe", "action_dispatch.route_uri_pattern" => "/products/:slug(.:format)", "SCRIPT_NAME" => "/shop")
  end

  test "Sinatra's route is the name" do
    assert_equal "GET /wiki/*", name_of("/wiki/Home", "sinatra.route" => "GET /wiki/*")
  end

  test "endpoints without end come under one name" do
    endpoint = PumaTuner::Measure::Endpoint.new
    names = Array.new(1_000) { |i| name_of("/page-#{"x" * i}", endpoint:) }
    assert_equal 201, names.uniq.size
    assert_equal "(other)", names.last
    assert_equal "GET /page-", name_of("/page-", endpoint:)
  end
end
