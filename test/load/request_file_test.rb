# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class RequestFileTest < TunerTest
  Load = PumaTuner::Load

  def requests(text, beside: {}, data: nil)
    Dir.mktmpdir do |folder|
      beside.each { |name, bytes| File.binwrite(File.join(folder, name), bytes) }
      file = File.join(folder, "requests.txt")
      File.binwrite(file, text)
      Load::RequestFile.new(file, data:).requests
    end
  end

  def request(line, **) = requests(line, **).fetch(0)

  # What is said of a bad line, without the path and the pointer to the format.
  def complaint(text, **)
    error = assert_raises(PumaTuner::InvalidRequestFile) { requests(text, **) }
    assert_match(/requests\.txt, line \d+: .*docs\/reference\/requests\.md\.\z/m, error.message)
    error.message[/line \d+: .*(?=\. The format)/m]
  end

  test "needs no more than a method and a path" do
    assert_equal Load::Request.new(path: "/articles?page=2"), request("GET /articles?page=2")
  end

  test "passes over blank lines and comments" do
    assert_equal ["/a", "/b"], requests("# first\n\n  \nGET /a\r\n  # indented\nGET /b").map(&:path)
  end

  test "takes everything a line can say" do
    line = %q(12 POST /reports header:Accept=text/html "header:X-Note=a = b" body:'{"a": 1}' expect:201,422 'has:Well done')
    wanted = Load::Request.new(weight: 12, http_method: "POST", path: "/reports",
      headers: {"Accept" => "text/html", "X-Note" => "a = b"}, body: '{"a": 1}', expected_statuses: [201, 422], expected_text: "Well done")
    assert_equal wanted, request(line)
  end

  test "does not mind the order of what follows the path" do
    assert_equal request("PUT /a expect:200 body:x header:A=1"), request("PUT /a header:A=1 body:x expect:200")
  end

  test "reads a body from a file beside it, byte by byte" do
    bytes = "\x00\xFF\r\n".b
    assert_equal bytes, request("POST /a body:@it.bin", beside: {"it.bin" => bytes}).body
  end

  test "tells an empty body from none" do
    assert_equal ["", nil], [request("POST /a body:").body, request("POST /a").body]
  end

  test "spells Host as the generator does, so that it is not sent twice" do
    assert_equal({"Host" => "shop.example"}, request("GET / header:host=shop.example").headers)
  end

  test "names the line that cannot be understood" do
    assert_match(/\Aline 3: "FETCH" is not a method/, complaint("# one\nGET /\nFETCH /\n"))
  end

  test "says what is wrong and what was expected" do
    {
      "0 GET /" => /the weight 0 is out of bounds; .* 1 to 1000/,
      "-2 GET /" => /the weight -2 is out of bounds/,
      "1.5 GET /" => /word 1 is not a method; a line is: \[weight or setup\] METHOD/,
      "get /" => /"get" is not a method; .*GET POST PUT PATCH DELETE HEAD/,
      "3" => /the method is missing/,
      "GET" => /the path is missing; .* begins with \//,
      "GET articles" => /word 2 is not a path/,
      "GET /a#b" => /word 2 is not a path/,
      "GET '/a b'" => /word 2 is not a path; .*percent-encoded/,
      "GET /café" => /is not a path; .*percent-encoded/,
      "GET / HTTP/1.1" => /word 3 is not understood; .*header:Name=value, body:…, expect:…, has:… and pick:…/,
      "GET / has:" => /has: needs a text/,
      "GET / has:a has:b" => /has: is given 2 times/,
      "HEAD / has:a" => /response to HEAD has no body/,
      "GET /{{id}}" => /{{id}} needs a data file to take its value from; name one with --data/,
      "GET / header:Accept" => /word 3 is not a header; write header:Name=value/,
      "GET / 'header:A b=c'" => /is not a header/,
      "GET / header:A=1 header:a=2" => /the header A is given twice/,
      "POST / header:Content-Length=3" => /Content-Length follows from the body/,
      "POST / body:a body:b" => /body: is given 2 times; give it once/,
      "POST / body:@nowhere" => /the body cannot be read: No such file.*beside the request file/,
      "POST / body:@~nobody-of-that-name/a" => /the body cannot be read: .*beside the request file/,
      "GET / expect:ok" => /what follows expect: is not a list of statuses; write one such as expect:200,404/,
      "GET / expect:" => /is not a list of statuses/,
      "GET / expect:200," => /is not a list of statuses/,
      "GET / expect:99" => /is not a list of statuses/,
      "POST / body:'x" => /a quotation mark is never closed/
    }.each { |line, said| assert_match said, complaint(line), line }
  end

  test "a word that is not understood is told by its number, as it may be a secret that lacks its quotation marks" do
    ["GET / header:Authorization=Bearer s3cret", "s3cret /", "GET s3cret?token=s3cret", "12 GET / 'header:A B=s3cret'", "GET / expect:s3cret"]
      .each { |line| refute_includes complaint(line), "s3cret" }
    assert_match(/word 4 is not understood/, complaint("GET / header:Authorization=Bearer s3cret"))
  end

  def file(text, data: nil)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "requests.txt")
      File.write(path, text)
      Load::RequestFile.new(path, data:).tap(&:requests)
    end
  end

  test "setup lines are told apart from the requests, and keep their order" do
    found = file("GET /a\nsetup GET /login pick:token=meta:csrf-token\n  setup POST /login body:{{token}} expect:303\n2 GET /b?t={{token}}")
    assert_equal [%w[/login /login], %w[/a /b?t={{token}}]], [found.set_up, found.requests].map { |requests| requests.map(&:path) }
    assert_equal [Load::Pick.new(name: "token", source: "meta", key: "csrf-token")], found.set_up.first.picks
  end

  test "each source of a pick is understood, and its name may have anything in it" do
    picks = %w[meta:csrf-token input:user[token] json:data.0.token header:X-CSRF-Token cookie:XSRF-TOKEN].each_with_index.map { |source, index| "pick:p#{index}=#{source}" }
    assert_equal picks, file("setup GET /login #{picks.join(" ")}\nGET /").set_up.first.picks.map(&:to_s)
  end

  test "says what is wrong with setup lines and picks, and in which line" do
    {
      "setup GET /login" => /line 1: the file holds no request but set-up lines/,
      "setup 3 GET /login\nGET /" => /line 1: word 2 is not a method|"3" is not a method/,
      "GET /\nsetup" => /line 2: the method is missing/,
      "GET / pick:token=meta:csrf-token" => /line 1: pick:token is picked by no setup line; let one pick it first/,
      "setup GET /login pick:token=cooky:a\nGET /" => /line 1: word 4 is not a pick; write such as pick:token=meta:csrf-token.* meta: input: json: header: cookie:/,
      "setup GET /login pick:token\nGET /" => /line 1: word 4 is not a pick/,
      "setup GET /login 'pick:a b=meta:c'\nGET /" => /is not a pick/,
      "setup HEAD /login pick:token=meta:csrf-token\nGET /" => /the response to HEAD has no body from which token could be picked/,
      "setup POST /login body:{{token}}\nsetup GET /login pick:token=meta:a\nGET /" => /line 1: {{token}} needs a data file to take its value from; .*pick it in a setup line before/,
      "setup GET /login pick:token=meta:a\nGET /{{other}}" => /line 2: {{other}} needs a data file/
    }.each { |text, said| assert_match said, complaint(text), text }
    assert_match(/line 1: pick:id has the name of a column of users\.csv/, complaint("setup GET / pick:id=meta:a\nGET /", data: DATA))
    assert_match(/line 2: {{name}} is no column of users\.csv; its columns are id, token, and picked are csrf/, complaint("setup GET / pick:csrf=meta:a\nGET /{{name}}", data: DATA))
    long = Load::DataFile.new(path: "users.csv", columns: ["id"], rows: [{"id" => "x" * 4_097}])
    assert_match(/line 1: {{id}} would get a value of more than 4096 bytes/, complaint("setup GET /{{id}}\nGET /", data: long))
  end

  test "a header may hold what is picked, whatever that will be" do
    assert_equal ["X-CSRF-Token"], file("setup GET / pick:csrf=meta:a\nPOST /a header:X-CSRF-Token={{csrf}}", data: DATA).requests.first.headers.keys
  end

  DATA = Load::DataFile.new(path: "users.csv", columns: %w[id token], rows: [{"id" => "1", "token" => "abc"}, {"id" => "2", "token" => "d\r\nX: y"}])

  test "takes names of a data file's columns, in path, headers and body" do
    request = request("POST /{{id}} header:X-Id={{id}} 'body:{{token}} {{ id }}'", data: DATA)
    assert_equal ["/{{id}}", "{{id}}", "{{token}} {{ id }}"], [request.path, request.headers["X-Id"], request.body]
  end

  test "names a column that is not there, and those that are" do
    assert_equal "line 2: {{name}} is no column of users.csv; its columns are id, token", complaint("GET /{{id}}\nGET /{{name}}", data: DATA)
  end

  test "refuses a value that would smuggle in a header" do
    assert_match(/line 1: the header X-Token would get a value from users\.csv that is no line of ASCII/,
      complaint("GET / header:X-Token={{token}}", data: DATA))
  end

  test "reads a data file with the requests" do
    Dir.mktmpdir do |folder|
      requests, data = %w[requests.txt data.csv].map { |name| File.join(folder, name) }
      File.write(requests, "GET /{{id}}")
      File.write(data, "id\n7\n")
      mix = Load::Mix.read(requests, data_path: data)
      assert_predicate mix, :templated?
      assert_equal ["/7"], mix.filled(mix.requests.first, 1).map(&:path).to_a
    end
  end

  test "refuses what is no text" do
    assert_match(/line 2: it is not UTF-8 text/, complaint("GET /\nGET /\xFF\n"))
  end

  test "refuses a file without a request" do
    ["", "# nothing yet\n"].each { |text| assert_match(/holds no request; .*GET \//, complaint(text)) }
  end

  test "says how to fix a file that cannot be read" do
    error = assert_raises(PumaTuner::UsageError) { Load::Mix.read("/nowhere/requests.txt") }
    assert_match(/cannot read \/nowhere\/requests\.txt: No such file.*Give the path/, error.message)
    below = assert_raises(PumaTuner::UsageError) { Load::RequestFile.new("/dev/null/requests.txt").requests }
    assert_match(/cannot read \/dev\/null\/requests\.txt: Not a directory.*Give the path/, below.message)
  end

  test "takes the mix of the demo application" do
    mix = Load::Mix.read(File.expand_path("../../labs/05-threads-against-io/requests.txt", __dir__))
    assert_equal "/realistic", mix.requests.max_by(&:weight).path
  end

  test "takes the examples of its documentation" do
    text = File.read(File.expand_path("../../docs/reference/requests.md", __dir__))
    examples = text.scan(/^```text\n(.*?)^```/m).flatten
    refute_empty examples
    columns = text[/^```csv\n(.*?)\n/m, 1].split(",")
    data = Load::DataFile.new(path: "data.csv", columns:, rows: [columns.to_h { |name| [name, "1"] }])
    examples.each { |example| refute_empty requests(example, beside: {"report.json" => "{}"}, data:) }
  end
end
