# frozen_string_literal: true

require "stringio"

module PumaTuner
  module CLI
    # A running server, as it is now.
    class Commands::Top < Command
      desc "Watch a running server: what its requests spend their time on now, who is in their way, and what a " \
        "thread or a worker more would do"
      argument :server, Options::SERVER, required: false
      options :every, :once, :json, :web, :listen, output: {
        about: "file for the observation that key n writes",
        usual: "observation-TIME.json in the app's tmp/puma_tuner"
      }
      example [
        "                                # the only server that is recorded here",
        "4711                            # by process id, in a container too",
        "/srv/shop --every 1             # by folder, a reading each second",
        "--once --json                   # a window and its forecast, as a document",
        "--web                           # as a page in a browser, at an address that is printed",
        "> shop.log                      # without a terminal: a line for each reading"
      ]

      def call(server:, every:, once:, json:, web:, listen:, output:)
        refuse_contradictions(once:, json:, web:, listen:, output:)
        address = PumaTuner::Top::Web.address(listen) if web
        Output.check_writable(output)
        server = PumaTuner::Top::Servers.new.find(server)
        session = PumaTuner::Top::Session.new(server, interval_s: every)
        session.open do
          next show(session.once || raise(MeasurementFailed, ended(server)), json) if once
          next serve(session, server, PumaTuner::Top::Web.new(address, lanes: recorder(server))) if web
          next follow(session, server, json) if json || !PumaTuner::Top::Terminal.fit?($stdin, out)
          watch(session, server, output)
        end
      end

      private

      # Otherwise one of them would be left aside without a word.
      def refuse_contradictions(once:, json:, web:, listen:, output:)
        other = {"--once" => once, "--json" => json}.key(true)
        raise UsageError, "--web is a page; leave out #{other}" if web && other
        if !web && listen != self.class.declared.fetch(:listen).without_it
          raise UsageError, "--listen says where --web is served; add --web, or leave it out"
        end
        other = "--web" if web
        return unless output && other
        raise UsageError, "--output is for key n of the screen, which #{other} does not have; leave one out"
      end

      def recorder(server) = PumaTuner::Top::LaneRecorder.new(server)

      def ended(server) = "the server #{server} has ended"

      def show(status, json)
        return out.puts(Document.dump(status)) if json
        _, columns = out.tty? ? PumaTuner::Top::Terminal.new($stdin, out).size : [nil, 80]
        out.puts(PumaTuner::Top::Screen.new(columns:, color: Output.color?(out)).lines(status))
      end

      def follow(session, server, json)
        lines = PumaTuner::Top::Lines.new
        session.each do |status|
          out.puts(json ? Document.dump(status) : lines.call(status))
          out.flush
        end
        err.puts("puma_tuner: #{ended(server)}")
      end

      def serve(session, server, web)
        web.start
        out.puts(web.url)
        out.flush
        session.each { |status| web.publish(status) }
        web.finish
        err.puts("puma_tuner: #{ended(server)}")
      ensure
        web.stop
      end

      def watch(session, server, output)
        there = PumaTuner::Top::Terminal.new($stdin, out).open do |terminal|
          session.draw(terminal, color: Output.color?(out)) { |kind| file_path(kind, output, server) }
        end
        err.puts("puma_tuner: #{ended(server)}") unless there
      ensure
        session.files.each { |kind, path| err.puts("#{kind}: #{path}") }
      end

      # A remark on the place would stand in the middle of the screen.
      def file_path(kind, output, server)
        name = "#{kind}-#{Time.now.strftime("%H%M%S")}.json"
        output = nil unless kind == "observation"
        File.expand_path(Results.path(output, name, err: StringIO.new, directory: server.folder))
      end
    end
  end
end
