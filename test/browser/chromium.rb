# frozen_string_literal: true

require "json"
require "open3"
require "socket"
require "tmpdir"

# A page in a real browser without a window.
class Chromium
  NAMES = %w[chromium chromium-browser google-chrome].freeze

  OPTIONS = %w[--headless --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --enable-logging=stderr --v=0 --allow-file-access-from-files --virtual-time-budget=3000].freeze

  # How the browser's log names what a page did wrong. Nothing that a page of ours says there is wanted.
  COMPLAINT = /:CONSOLE[:(]|Uncaught/

  LIMIT_S = 40

  # complaints: lines of the browser's log; hosts: whom it asked for something; facts: what the script answered
  Visit = Data.define(:complaints, :hosts, :facts)

  # @return [String, nil] nil when there is none on this machine
  def self.path
    ENV.fetch("PATH").split(":").product(NAMES).map { |folder, name| File.join(folder, name) }.find { |path| File.executable?(path) }
  end

  # Opens the page inside a frame of the test's own, as its policy forbids scripts that are not its own.
  #
  # @param page [String] HTML; PORT in it becomes that of the server that every request is led to
  # @param script [String] the body of a JavaScript function of the page's `window` and `document`, which returns facts
  # @param width [Integer] of the frame
  # @param options [Array<String>] more of the browser's
  # @return [Visit]
  def self.visit(page, script: "return null;", width: 1200, options: [])
    Dir.mktmpdir("puma_tuner-browser") do |folder|
      listening do |port, hosts|
        File.write(File.join(folder, "page.html"), page.gsub("PORT", port.to_s))
        File.write(File.join(folder, "frame.html"), frame(script, width))
        dom, log = run([path, *OPTIONS, *("--no-sandbox" if Process.uid.zero?), "--user-data-dir=#{folder}/profile", *proxy(port), *options,
          "--dump-dom", "file://#{folder}/frame.html"])
        facts = dom[%r{<pre id="facts">(.+?)</pre>}m, 1] or raise "the browser gave no facts:\n#{log}"
        Visit.new(complaints: log.lines.grep(COMPLAINT), hosts: hosts.call, facts: JSON.parse(facts))
      end
    end
  end

  # Every host is led to our server, loopback included, so that a request to anywhere is seen.
  def self.proxy(port) = ["--proxy-server=http://127.0.0.1:#{port}", "--proxy-bypass-list=<-loopback>"]
  private_class_method :proxy

  # @yield [port, hosts] the second answers who was asked for so far
  def self.listening
    server = TCPServer.new("127.0.0.1", 0)
    heard = []
    thread = Thread.new do
      loop do
        client = server.accept
        heard << client.gets.to_s.strip
        client.close
      end
    rescue IOError
      nil
    end
    yield server.addr[1], -> { heard.map { |line| line[%r{\A\w+ (?:\w+://)?([^/ :]+)}, 1] || line }.uniq }
  ensure
    server&.close
    thread&.join
  end
  private_class_method :listening

  # @return [Array(String, String)] what it printed
  def self.run(command)
    Open3.popen3(*command, pgroup: true) do |input, out, err, process|
      input.close
      readers = [out, err].map { |stream| Thread.new { stream.read.force_encoding("UTF-8").scrub } }
      unless process.join(LIMIT_S)
        Process.kill(:KILL, -process.pid)
        raise "the browser did not end within #{LIMIT_S} s:\n#{readers.last.value}"
      end
      raise "the browser failed (#{process.value}):\n#{readers.last.value}" unless process.value.success?
      readers.map(&:value)
    end
  end
  private_class_method :run

  # The facts are written in such a way that nothing in them becomes markup.
  #
  # @return [String] the page around page.html, see visit
  def self.frame(script, width)
    <<~HTML
      <!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">
      <pre id="facts"></pre><iframe src="page.html" width="#{width}" height="2000"></iframe>
      <script>
        addEventListener("load", () => {
          const facts = ((window, document) => { #{script} })(frames[0], frames[0].document);
          document.getElementById("facts").textContent = JSON.stringify(facts).replace(/[<>&]/g, (sign) => "\\\\u00" + sign.charCodeAt(0).toString(16));
        });
      </script>
    HTML
  end
end
