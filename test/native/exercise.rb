# frozen_string_literal: true

# Goes through the load generator's extension and the simulator's, both in this process and on several threads at once: what
# Sanitizer runs it under sees each access of theirs. With STRESS=1 garbage is collected wherever anything is allocated.

$LOAD_PATH.unshift(*%w[lib probe/lib test].map { |folder| File.expand_path("../../#{folder}", __dir__) })
require "puma_tuner"
require "socket"
require "support/random_plans"
require "tmpdir"

# A server in a process of its own that answers as HTTP allows, and as it does not, in pieces of any size. What comes next is by chance.
class OddServer
  LONG = "x" * 40_000
  BODY = "Welcome#{LONG}"
  PAGE = %(<meta name=t content="a&amp;&#x2b;&#;b"><input value='#{"v" * 4_000}' name="t">)
  JSON_BODY = '{"a": [{"b": "x"}, {"t": "\\u00e9\\ud83d\\ude00\\n"}], "c": 1e5}'
  ANSWERS = [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: #{BODY.bytesize}\r\n\r\n#{BODY}",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n, world!!!\r\n0\r\nTrailer: x\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /login?back=#{"y" * 300}\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.0 200 OK\r\n\r\nuntil the end", "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: #{LONG}\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nless", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 999 \r\n\r\n",
    "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; path=/\r\nSet-Cookie: b=#{"y" * 9_000}\r\nset-cookie: c=;;=; max-age=0\r\nX-T: d\r\nContent-Length: #{PAGE.bytesize}\r\n\r\n#{PAGE}",
    "HTTP/1.1 200 OK\r\nSet-Cookie: a=2; expires=Thu, 01-Jan-1970 00:00:00 GMT\r\nContent-Length: #{JSON_BODY.bytesize}\r\n\r\n#{JSON_BODY}",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n", "SSH-2.0\r\n", ""
  ].map(&:freeze).freeze

  # One response in so many is not as it should be.
  ODD_EVERY = 8

  # @return [Integer] the process
  def self.start(listeners, seed)
    fork do
      trap(:TERM) { exit!(0) }
      listeners.map { |listener| Thread.new { new(listener, seed).serve_all } }.each(&:join)
    end
  end

  def initialize(listener, seed)
    @listener, @seed = listener, seed
  end

  def serve_all = (@seed..).each { |seed| accept(Random.new(seed)) }

  private

  def accept(random)
    socket = @listener.accept
    Thread.new { serve(socket, random) }
  end

  def serve(socket, random)
    while socket.gets("\r\n\r\n")
      answer = (random.rand(ODD_EVERY) == 0) ? mutated(ANSWERS.sample(random:), random) : ANSWERS.first
      answer.bytes.each_slice(random.rand(1..60_000)) { |bytes| socket.write(bytes.pack("C*")) }
      break unless answer.equal?(ANSWERS.first) || random.rand < 0.5
    end
  rescue SystemCallError, IOError
    nil
  ensure
    socket.close
  end

  # Half of them with a byte that is another, or is not there.
  def mutated(answer, random)
    return answer if answer.empty? || random.rand < 0.5
    copy = answer.b
    copy[random.rand((random.rand < 0.5) ? copy.size : [copy.size, 100].min)] = ["", random.rand(256).chr, "\r\n"].sample(random:)
    copy
  end
end

Load = PumaTuner::Load
Predict = PumaTuner::Predict
[Load::Native.why_not, Predict::Engine.why_not].compact.each { |why_not| abort(why_not) }
include RandomPlans # rubocop:disable Style/MixinUsage -- a script

SEED = Integer(ENV.fetch("SEED", 1))
folder = Dir.mktmpdir
rows = Array.new(5) { |number| {"id" => number.to_s} }
MIX = Load::Mix.new(requests: [Load::Request.new(path: "/{{id}}", weight: 3), Load::Request.new(path: "/", expected_text: "Welcome"),
  Load::Request.new(path: "/head", http_method: "HEAD"), Load::Request.new(path: "/post", http_method: "POST", body: "x" * 50_000)],
  data: Load::DataFile.new(path: "rows.csv", columns: ["id"], rows:))

# Of clients that keep cookies and pick from whatever is answered.
PICKS = %w[meta:t input:t json:a.1.t header:x-t cookie:a].map { |text| Load::Pick.new("t", *text.split(":", 2)) }
SESSION_MIX = Load::Mix.new(data: MIX.data, set_up: [Load::Request.new(path: "/{{id}}", picks: PICKS.take(1))],
  requests: PICKS.map { |pick| Load::Request.new(path: "/{{t}}/{{id}}", http_method: "POST", headers: {"X-T" => "{{t}}"}, body: "{{t}}{{id}}", picks: [pick]) })

def options(url, arrivals, connections_count: 5, duration_s: 0.3, raw_path: nil, mix: MIX)
  clients = Load::Clients.new(Load::Session.new(mix).clients(connections_count, SEED)) if mix.set_up.any?
  plan = Load::NativePlan.new(mix:, url_base: url, connections_count:, duration_s:, seed: SEED, arrivals:, clients:)
  plan = (yield(plan) if block_given?) || plan.to_h
  {**plan, settling_limit_ns: 300_000_000, drain_ns: 300_000_000, drain_limit_ns: 300_000_000, raw_path:, core: nil}
end

listeners = [TCPServer.new("127.0.0.1", 0), UNIXServer.new(File.join(folder, "it.sock"))]
urls = ["http://127.0.0.1:#{listeners.first.addr[1]}", "unix:#{File.join(folder, "it.sock")}"]
closed, open = Load::Arrivals.closed, Load::Arrivals.open(300)
loads = [closed, Load::Arrivals.closed(think_ns: 2_000_000), open, Load::Arrivals.open(300, kind: "even", reuse: 1..3)]
  .flat_map { |arrivals| urls.map { |url| options(url, arrivals) } }
loads.push(*[closed, open].map { |arrivals| options(urls.first, arrivals, mix: SESSION_MIX) }, options(urls.last, closed, connections_count: 40, mix: SESSION_MIX, &:set_up))
loads << options(urls.first, open, connections_count: 1, raw_path: File.join(folder, "raw.csv"))
refused = TCPServer.open("127.0.0.1", 0) { |server| "http://127.0.0.1:#{server.addr[1]}" }
loads.push(options(refused, closed), options(refused, open))
endless = options(urls.first, closed, duration_s: 600)
plans = Array.new(60) { |number| random_plan(SEED + number) }
long_plan = {**plans.first, requests_count: 100_000_000, steps_max: 2**62}
nonsense = [plans.first.merge(cores_count: 0), plans.first.merge(picks: [10**9].pack("q")), plans.first.merge(pieces: ""), plans.first.except(:seed)]

stall = TCPServer.new("127.0.0.1", 0)
servers = [OddServer.start(listeners, SEED), fork { Load::Loop.serve_stall(stall.fileno, 1_000_000, 50_000_000, 50_000_000) && exit!(0) }]
loads << options("http://127.0.0.1:#{stall.addr[1]}", open)

GC.stress = GC.auto_compact = ENV.key?("STRESS")
sent = loads.map { |each| Thread.new { Load::Loop.run(each) } }
simulated = Array.new(3) { |number| Thread.new { plans.each_slice(3).sum { |three| Predict::Core.run(three[number])[:count] } } }
# Each is ended in its midst.
killed = [-> { Load::Loop.run(endless) }, -> { Predict::Core.run(long_plan) }].map { |work| Thread.new(&work) }
sleep 0.3
killed.each(&:kill).each(&:join)
refusals = nonsense.count do |plan|
  Predict::Core.run(plan)
  false
rescue ArgumentError, KeyError
  true
end
answered_count, simulated_count = sent.sum { |each| each.value[:answered_count] }, simulated.sum(&:value)
GC.stress = false
ended = servers.map { |pid| Process.kill(:TERM, pid) && Process.wait2(pid).last }
FileUtils.rm_rf(folder)
abort("a server ended with #{ended}") unless ended.all?(&:success?)
abort("plans without sense were run: #{nonsense.size - refusals}") unless refusals == nonsense.size
puts "answered and simulated: #{[answered_count, simulated_count].all?(&:positive?)}"
