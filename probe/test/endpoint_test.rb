# frozen_string_literal: true

require "test_helper"

class EndpointTest < TunerTest
  Endpoint = PumaTuner::Probe::Endpoint
  MANY = 3_000

  # The frameworks' route objects, as far as we look. No Structs: a Hash tells those apart by what they hold.
  RailsRoute = Class.new { attr_accessor :path }
  RailsPath = Struct.new(:spec, :anchored)
  GrapeRoute = Class.new { attr_accessor :pattern }
  GrapePattern = Struct.new(:origin)

  def env(path, method: "GET", script_name: "", **rest)
    {"REQUEST_METHOD" => method, "PATH_INFO" => path, "SCRIPT_NAME" => script_name, **rest.transform_keys(&:to_s)}
  end

  # As if all frameworks were loaded.
  def new_endpoint(**) = Endpoint.new(loaded: ->(_) { true }, **)

  def name_of(path, endpoint: new_endpoint, **) = endpoint.name(env(path, **))

  def rails(pattern, anchored: true)
    {"action_dispatch.route": RailsRoute.new.tap { |route| route.path = RailsPath.new(pattern, anchored) }}
  end

  def grape(pattern)
    {"grape.routing_args": {route_info: GrapeRoute.new.tap { |route| route.pattern = GrapePattern.new(pattern) }, id: "1"}}
  end

  # @return [Integer] objects: the fewest of some turns, as Ruby's own caches are warm after the first, and other threads may run in one
  def allocations
    GC.disable
    Array.new(4) {
      before = GC.stat(:total_allocated_objects)
      1_000.times { yield }
      GC.stat(:total_allocated_objects) - before
    }.min
  ensure
    GC.enable
  end

  test "names of jobs are kept apart up to a bound, and those that were there before stay" do
    endpoint = new_endpoint
    names = Array.new(Endpoint::NAMES_MAX + 50) { |number| endpoint.job_name("import #{number}") }
    assert_equal [*names.first(Endpoint::NAMES_MAX), Endpoint::OTHER], names.uniq
    assert_equal ["import 7", Endpoint::OTHER, Endpoint::OTHER], ["import 7", "import 240", nil].map { |name| endpoint.job_name(name) }
    assert_equal "GET /new", name_of("/new", endpoint:)
  end

  # --- paths

  test "a plain path is its own name" do
    assert_equal "GET /articles", name_of("/articles")
    assert_equal "GET /", name_of("/")
    assert_equal "GET /", name_of("")
    assert_equal "GET /", new_endpoint.name({"REQUEST_METHOD" => "GET"})
  end

  test "a slash more is no other endpoint" do
    assert_equal "GET /articles/new", name_of("//articles//new/")
  end

  {
    "numbers" => %w[123 -5 12.5 1_000 order-123456],
    "dates" => %w[2024-01-02 20240102T101500Z 2024-01-02T10:15],
    "UUIDs" => %w[0b0d4bc4-3f9a-4d7e-8f11-6f5c9d1f6a10],
    "long hexadecimal words" => %w[0123456789abcdef DEADBEEF0123],
    "tokens" => %w[dQw4w9WgXcQ cus_NffrFeUfNV2Hib 01ARZ3NDEKTSV4RRFFQ69G5FAV V1StGXR8_Z5jdHi6B-myT],
    "Base64" => %w[dGhpc2lzYXRva2Vu aGVsbG8= a+b],
    "mail addresses" => %w[alice@example.com],
    "escaped words" => %w[al%20ice caf%C3%A9],
    "titles with their number" => %w[12-my-first-article],
    "whatever is very long" => ["word-" * 9]
  }.each do |what, segments|
    test "#{what} are taken out of a path" do
      segments.each { |segment| assert_equal "GET /things/:id/edit", name_of("/things/#{segment}/edit"), segment }
    end
  end

  test "long tokens are taken out of a path, whatever they are written in" do
    random = Random.new(1)
    alphabets = {"hex" => [*"0".."9", *"a".."f"], "base 32" => [*"a".."z", *"2".."7"], "base 36" => [*"0".."9", *"a".."z"],
                 "base 58" => [*"A".."Z", *"a".."z", *"1".."9"] - %w[I O l], "base 64" => [*"A".."Z", *"a".."z", *"0".."9", "-", "_"]}
    alphabets.each do |name, letters|
      left = Array.new(500) { Array.new(24) { letters.sample(random:) }.join }.reject { |token| Endpoint::Path.name("/reset/#{token}") == "/reset/:id" }
      assert_operator left.size, :<=, 5, "#{name}: #{left}"
    end
  end

  test "long words in a path are not taken for values" do
    words = %w[FindOrCreateByNameExtension getCustomerSubscriptionDetails administrative_accounts
      openxmlformats-officedocument internationalization HTTPServerException resource-requirements-v1-core
      MySQLDatabaseTasks test_redirect_https_relative AtLeastOneOfValidator]
    words.each { |word| assert_equal "/#{word}", Endpoint::Path.name("/#{word}") }
  end

  test "file extensions are kept in an endpoint's name" do
    assert_equal "GET /blob/:id.png", name_of("/blob/0123456789abcdef.png")
    assert_equal "GET /assets/:id.js.map", name_of("/assets/application-#{"0f" * 32}.js.map")
    assert_equal "GET /robots.txt", name_of("/robots.txt")
  end

  test "words stay, with digits in them too" do
    %w[v2 top10 oauth2callback base64url x86_64 getUserProfileInformationById .well-known 2fa my-slug index.html].each do |word|
      assert_equal "GET /#{word}/x", name_of("/#{word}/x")
    end
  end

  test "a path that is no text has a name that is" do
    ["/\xff\xfe/x", "/caf\xC3\xA9".b, "/a\u0000\n\e[31m/x", "/\u202Eevil", "*", "\xff".b].each do |path|
      name = name_of(path)
      assert_predicate name, :valid_encoding?
      assert_equal Encoding::UTF_8, name.encoding
      refute_match(/[^[:print:]]/, name)
      assert_match(/:id|\*/, name)
    end
  end

  test "a name has an end" do
    [name_of("/word" * 5_000), name_of("/x", "sinatra.route": "GET /#{"é" * 500}")].each do |name|
      assert_operator name.bytesize, :<=, 120
      assert_predicate name, :valid_encoding?
      assert name.end_with?("…")
    end
  end

  # --- routes

  test "Rails' route is the name, with the place where its app is mounted" do
    assert_equal "GET /articles/:id", name_of("/articles/7", **rails("/articles/:id(.:format)"))
    assert_equal "GET /shop/products/:slug", name_of("/products/shoe", script_name: "/shop", **rails("/products/:slug(.:format)"))
    assert_equal "GET /shop", name_of("/", script_name: "/shop", **rails("/"))
    assert_equal "GET /", name_of("/", **rails("/"))
  end

  test "a pattern of Rails 7.1 and 7.2 is the name, too" do
    assert_equal "GET /shop/products/:slug",
      name_of("/products/shoe", script_name: "/shop", "action_dispatch.route_uri_pattern": "/products/:slug(.:format)")
    assert_equal "GET /health", name_of("/health", "action_dispatch.route_uri_pattern": "/health")
  end

  test "a route that answers in several formats has an endpoint for each that paths ask for" do
    [rails("/issues(.:format)"), {"action_dispatch.route_uri_pattern": "/issues(.:format)"}].each do |route|
      endpoint = new_endpoint
      paths = %w[/issues /issues.json /issues.csv /issues /issues.csv /issues.json /issues.html /issues.turbo_stream /issues.%00 /issues/]
      assert_equal %w[/issues /issues.json /issues.csv /issues /issues.csv /issues.json /issues /issues /issues /issues].map { |name| "GET #{name}" },
        paths.map { |path| name_of(path, endpoint:, **route) }
    end
    assert_equal "GET /shop/products/:slug.json", name_of("/products/shoe.json", script_name: "/shop", **rails("/products/:slug(.:format)"))
    assert_equal "GET /issues", name_of("/issues.\xff", **rails("/issues(.:format)"))
  end

  test "a format that is part of the route is named once" do
    assert_equal "GET /feed.json", name_of("/feed.json", **rails("/feed.json"))
    assert_equal "GET /files/*name", name_of("/files/a.json", **rails("/files/*name"))
  end

  test "formats leave room for routes, and come under the route's name where there is none" do
    endpoint = new_endpoint
    names = Array.new(60) do |index|
      route = rails("/r#{index}(.:format)")
      Endpoint::Format::WORDS.map { |word| name_of("/r#{index}.#{word}", endpoint:, **route) }
    end.flatten
    assert_includes names, "GET /r0.csv"
    assert_equal "GET /r59", names.last
    assert_operator names.uniq.size, :<=, Endpoint::NAMES_MAX
    assert_equal "GET /late", name_of("/late", endpoint:, **rails("/late(.:format)"))
  end

  test "one engine mounted twice has two endpoints" do
    endpoint = new_endpoint
    route = rails("/products(.:format)")
    assert_equal %w[/shop /store].map { |mount| "GET #{mount}/products" },
      %w[/shop /store].map { |mount| name_of("/products", endpoint:, script_name: mount, **route) }
  end

  test "variable parts of a mount are taken out" do
    parameters = {"action_dispatch.request.path_parameters": {tenant: "acme", controller: "shop", action: "show", id: "7"}}
    assert_equal "GET /:tenant/shop/products/:id",
      name_of("/products/7", script_name: "/acme/shop", **rails("/products/:id(.:format)"), **parameters)
    assert_equal "GET /accounts/:id/x", name_of("/x", script_name: "/accounts/99", **rails("/x"))
    assert_equal "GET /accounts/:id/x", name_of("/x", script_name: "/accounts/99")
  end

  test "an app that Rails mounts names its own routes" do
    [rails("/wiki", anchored: false), {"action_dispatch.route_uri_pattern": "/wiki"}].each do |mount|
      sinatra = {"sinatra.route": "GET /pages/:name"}
      assert_equal "GET /wiki/pages/:name", name_of("/pages/Home", script_name: "/wiki", **sinatra, **mount)
      assert_equal "GET /wiki/jobs/:id", name_of("/jobs/12", script_name: "/wiki", **mount)
    end
    assert_equal "GET /jobs/:id", name_of("/jobs/12", "action_dispatch.route_uri_pattern": "/")
  end

  test "an app that Rails mounts at / keeps its routes apart, whichever request comes first" do
    endpoint = new_endpoint
    names = %w[/ /jobs/12 /].map { |path| name_of(path, endpoint:, "action_dispatch.route_uri_pattern": "/") }
    assert_equal ["GET /", "GET /jobs/:id", "GET /"], names
  end

  test "Sinatra's route is the name, and a Regexp its source" do
    assert_equal "GET /wiki/*", name_of("/wiki/Home", "sinatra.route": "GET /wiki/*")
    assert_equal "GET /a/:id.?:format?", name_of("/a/5.json", "sinatra.route": "GET /a/:id.?:format?")
    assert_equal "GET /hello/([\\w]+)", name_of("/hello/bob", "sinatra.route": "GET \\/hello\\/([\\w]+)")
  end

  test "Grape's route is the name" do
    assert_equal "GET /api/:version/articles/:id", name_of("/api/v1/articles/7.json", **grape("/api/:version/articles/:id"))
  end

  test "an app below Rack::URLMap has the place in front, which is no longer in env" do
    endpoint = new_endpoint
    {"/articles/7" => "/articles/:id", "/shop/articles/7" => "/shop/articles/:id",
     "/a/b/articles/x.json" => "/a/b/articles/:id"}.each do |path, name|
      2.times { assert_equal "GET #{name}", name_of(path, endpoint:, "sinatra.route": "GET /articles/:id") }
      assert_equal "GET #{name}", name_of(path, endpoint:, **grape("/articles/:id"))
    end
    assert_equal "GET /shop", name_of("/shop", endpoint:, "sinatra.route": "GET /")
    assert_equal "GET /", name_of("/", endpoint:, "sinatra.route": "GET /")
    assert_equal "GET /shop", name_of("/shop/", endpoint:, "sinatra.route": "GET /")
    assert_equal "GET /shop/regexp/(\\d+)", name_of("/shop/regexp/1", endpoint:, "sinatra.route": "GET /regexp\\/(\\d+)")
  end

  test "a route that can't be read is the name all the same" do
    endpoint = new_endpoint
    ["/x", "/\xff", "/caf\xC3\xA9".b].each do |path|
      assert_equal "GET /(", name_of(path, endpoint:, "sinatra.route": "GET \\/(")
      assert_equal "GET /é", name_of(path, endpoint:, "sinatra.route": "GET /é")
    end
  end

  test "parts of the path that a router left as parameters are called by their names" do
    assert_equal "GET /users/:name", name_of("/users/alice", "router.params": {name: "alice"})
    assert_equal "GET /files/:path", name_of("/files/a/b/c", "router.params": {path: "a/b/c"})
    assert_equal "GET /in/:tenant/things/:kind",
      name_of("/things/red", script_name: "/in/acme", "router.params": {tenant: "acme", kind: "red"})
    assert_equal "GET /a/:to", name_of("/a/a", "router.params": {to: "a", list: ["a"], nothing: nil})
    assert_equal "GET /a/:id", name_of("/a/a", "router.params": {"<b>" => "a"})
  end

  test "the query string is no part of an endpoint's name" do
    assert_equal "GET /books", name_of("/books", QUERY_STRING: "q=books&%61=books", "router.params": {q: "books", a: "books"})
    assert_equal "GET /books/:title", name_of("/books/dune", QUERY_STRING: "title=x", "router.params": {title: "dune"})
  end

  test "a framework whose insides have changed is named by path" do
    assert_equal "GET /x/:id", name_of("/x/1", "action_dispatch.route": Object.new)
    assert_equal "GET /x/:id", name_of("/x/1", "grape.routing_args": {route_info: Object.new})
  end

  # --- the app's own names

  test "the app's own grouping comes first, and nil leaves it to the route" do
    endpoint = new_endpoint(grouping: ->(env) { "search" if env["PATH_INFO"] == "/s" })
    assert_equal "search", name_of("/s", endpoint:, "sinatra.route": "GET /s")
    assert_equal "GET /t", name_of("/t", endpoint:, "sinatra.route": "GET /t")
  end

  test "a grouping that raises is told of once, and its requests count under their usual names" do
    endpoint = new_endpoint(grouping: ->(_env) { raise KeyError, "tenant" })
    _, warnings = capture_io { 3.times { assert_equal "GET /t", name_of("/t", endpoint:) } }
    assert_equal "puma_tuner: the app's own grouping of endpoints failed; routes are used (KeyError, endpoint_test.rb:#{__LINE__ - 2})\n", warnings
  end

  test "a grouping may answer anything" do
    answers = [:symbol, 7, "\xff\n", "x" * 500, "", nil]
    endpoint = new_endpoint(grouping: ->(_env) { answers.shift })
    assert_equal ["symbol", "7", "??", "#{"x" * 117}…", "", "GET /t"], Array.new(6) { name_of("/t", endpoint:) }
  end

  # --- bounds

  test "endpoints without end come under one name, and leave room for routes" do
    endpoint = new_endpoint
    names = Array.new(MANY) { |i| name_of("/page/#{word(i)}", endpoint:) }
    assert_equal 101, names.uniq.size
    names += Array.new(MANY) { |i| name_of("/page/#{word(i / 2)}", endpoint:) }
    assert_equal 151, names.uniq.size
    assert_equal "(other)", names.last
    assert_equal "GET /page/#{word(0)}", name_of("/page/#{word(0)}", endpoint:)
    assert_equal "GET /articles/:id", name_of("/articles/1", endpoint:, **rails("/articles/:id(.:format)"))
    names = Array.new(MANY) { |i| name_of("/", endpoint:, **rails("/#{word(i)}(.:format)")) }
    assert_equal "(other)", names.last
    assert_equal 200, endpoint.instance_variable_get(:@names).size
  end

  test "groups without end come under one name" do
    endpoint = new_endpoint(grouping: ->(env) { env["PATH_INFO"] })
    assert_equal 201, Array.new(MANY) { |i| name_of("/page/#{i}", endpoint:) }.uniq.size
  end

  test "raw paths, methods and mounts don't fill the memory" do
    endpoint = new_endpoint
    count = ->(object) { object.is_a?(Hash) ? object.sum { |_, value| count.call(value) } : Array(object).size }
    MANY.times do |i|
      name_of("/users/#{i}", endpoint:)
      name_of("/x", endpoint:, method: "M#{i}", script_name: "/m/#{i}")
      name_of("/m#{i}/x", endpoint:, "sinatra.route": "GET /x")
      name_of("/#{"x" * 1_000}/#{i}", endpoint:)
    end
    counts = endpoint.instance_variable_get(:@memos).values.map { |memo| %i[@lately @before].sum { |kept| count.call(memo.instance_variable_get(kept)) } }
    assert_operator counts.max, :<=, 2_000
    assert_operator counts.max, :>, 1_000
    assert_operator endpoint.instance_variable_get(:@candidates).size, :<=, 1_000
    assert_equal "GET /users/:id", name_of("/users/123456", endpoint:)
  end

  test "a scanner's paths take no room from those that are asked for" do
    endpoint = new_endpoint
    often = env("/often")
    MANY.times { |i| name_of("/#{word(i)}.php", endpoint:) && (endpoint.name(often) if i % 500 == 0) }
    assert_equal ["GET /often", "(other)"], [endpoint.name(often), name_of("/late", endpoint:)]
    late = env("/late")
    assert_equal "GET /late", endpoint.name(late)
    assert_equal 0, allocations { endpoint.name(often) && endpoint.name(late) }
  end

  test "a path that was seen before is not kept by us" do
    path = +"/users/alice"
    endpoint = new_endpoint
    name_of(path, endpoint:)
    path.replace("/other")
    assert_equal "GET /users/alice", name_of("/users/alice", endpoint:)
  end

  # --- cost

  test "a request whose route was seen before allocates nothing" do
    endpoint = new_endpoint
    grouped = new_endpoint(grouping: ->(_env) { "GET /same" })
    sinatra = {"sinatra.route": "GET /articles/:id"}
    api = grape("/articles/:id")
    {
      "rails" => [env("/articles/7", **rails("/articles/:id(.:format)")), env("/articles/7.json", **rails("/articles/:id(.:format)"))],
      "rails 7.1, mounted" => [
        env("/articles/7", script_name: "/shop", "action_dispatch.route_uri_pattern": "/articles/:id(.:format)")
      ],
      "sinatra" => [env("/articles/7", **sinatra), env("/articles/8", **sinatra), env("/shop/articles/9", **sinatra)],
      "grape" => [env("/articles/7", **api), env("/shop/articles/8", **api)],
      "roda" => [env("/articles/7", "puma_tuner.roda_route": "/articles/:id")],
      "hanami" => [env("/articles/7", "router.params": {id: "7"})],
      "path" => [env("/articles")]
    }.each do |what, envs|
      assert_equal 0, allocations { envs.each { |env| endpoint.name(env) } }, what
    end
    sample = env("/x")
    assert_equal 0, allocations { grouped.name(sample) }
  end

  test "one instance can be used by many threads at once" do
    endpoint = new_endpoint
    names = Array.new(8) {
      Thread.new { Array.new(400) { |i| name_of("/p/#{word(i % 100)}", endpoint:) } }
    }.map(&:value)
    assert_equal [names.first], names.uniq
    assert_equal 100, names.first.uniq.size
  end

  # @return [String] the number in letters, so that it looks like a word
  def word(number) = number.digits(10).map { |digit| "bcdfghklmn"[digit] }.join("a").prepend("x")

  test "a framework that is loaded after the first request is asked from then on, and one that is not, never" do
    loaded = []
    endpoint = Endpoint.new(loaded: ->(name) { loaded.include?(name) })
    assert_equal "GET /articles/first", endpoint.name(env("/articles/first", **rails("/articles/:slug(.:format)")))
    loaded << :ActionDispatch
    with_a_file_loaded { assert_equal "GET /articles/:slug", endpoint.name(env("/articles/first", **rails("/articles/:slug(.:format)"))) }
  end

  def with_a_file_loaded
    $LOADED_FEATURES << "nothing.rb"
    yield
  ensure
    $LOADED_FEATURES.delete("nothing.rb")
  end
end
