# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "tmpdir"

# A page in a real browser without a window.
class Chromium
  NAMES = %w[chromium chromium-browser google-chrome].freeze

  OPTIONS = %w[--headless --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --disable-default-apps --enable-logging=stderr --v=0 --allow-file-access-from-files].freeze

  LIMIT_S = 40

  # dom: the page as it is at the end; complaints: what stood in the console; facts: what the script answered
  Visit = Data.define(:dom, :complaints, :facts)

  # @return [String, nil] nil when there is none on this machine
  def self.path
    ENV.fetch("PATH").split(":").product(NAMES).map { |folder, name| File.join(folder, name) }.find { |path| File.executable?(path) }
  end

  # Opens the page inside a frame of the test's own, as its policy forbids scripts that are not its own.
  #
  # @param html [String] the page
  # @param script [String] the body of a JavaScript function of the page's `window` and `document`, which returns facts
  # @param options [Array<String>] more of the browser's
  # @return [Visit]
  def self.visit(html, script:, options: [])
    Dir.mktmpdir("puma_tuner-browser") do |folder|
      File.write(File.join(folder, "report.html"), html)
      File.write(File.join(folder, "frame.html"), frame(script))
      command = [path, *OPTIONS, *("--no-sandbox" if Process.uid.zero?), "--user-data-dir=#{folder}/profile", *options]
      log = run([*command, "--virtual-time-budget=3000", "--dump-dom", "file://#{folder}/frame.html"])
      dom = run([*command, "--dump-dom", "file://#{folder}/report.html"])
      facts = log.first[%r{<pre id="facts">(.*?)</pre>}m, 1] or raise "the browser gave no facts:\n#{log.last}"
      Visit.new(dom: dom.first, complaints: [log, dom].flat_map { |_, errors| errors.lines.grep(/:CONSOLE/) }, facts: JSON.parse(facts))
    end
  end

  # @return [Array(String, String)] what it printed
  def self.run(command)
    output, errors, status = nil
    Open3.popen3(*command, pgroup: true) do |input, out, err, thread|
      input.close
      readers = [out, err].map { |stream| Thread.new { stream.read } }
      unless thread.join(LIMIT_S)
        Process.kill(:KILL, -thread.pid)
        raise "the browser did not end within #{LIMIT_S} s:\n#{readers.last.value}"
      end
      output, errors = readers.map(&:value)
      status = thread.value
    end
    raise "the browser failed (#{status}):\n#{errors}" unless status.success?
    [output.force_encoding("UTF-8"), errors.force_encoding("UTF-8").scrub]
  end
  private_class_method :run

  # The facts are written as text, so that nothing in them becomes markup.
  def self.frame(script)
    <<~HTML
      <!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">
      <pre id="facts"></pre><iframe src="report.html" width="1200" height="2000"></iframe>
      <script>
        addEventListener("load", () => {
          const answer = ((window, document) => { #{script} })(frames[0], frames[0].document);
          document.getElementById("facts").textContent = JSON.stringify(answer).replaceAll("<", "\\\\u003c").replaceAll("&", "\\\\u0026");
        });
      </script>
    HTML
  end
  private_class_method :frame
end
