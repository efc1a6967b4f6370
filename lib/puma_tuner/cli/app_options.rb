# frozen_string_literal: true

module PumaTuner
  module CLI
    # Which app, and what to send to it: shared by the commands that start one.
    module AppOptions
      def self.included(command)
        command.include(Reading)
        command.class_eval do
          argument :app, type: :array, required: false, desc: "a config.ru; or, after `--`, a command that starts Puma"
          option :directory, desc: "folder in which a command after `--` runs, default: this one"
          option :path, type: :array, default: ["/"], desc: "path(s) to request"
          option :requests, desc: "file with requests and weights (docs/formats/requests.md), instead of --path"
          option :connections, default: "20", desc: "clients that each send their next request when the answer is there"
          option :load_generator, default: "native", desc: "what sends the requests: native, or for cross-checks wrk, hey, h2load"
          option :boot_limit, default: "60", desc: "seconds the app may take to come up"
          option :seed, default: "1", desc: "of all that is left to chance"
        end
      end

      # What these options mean.
      module Reading
        private

        # @return [Host::Command]
        def command_of(app:, directory: nil, **)
          words = Array(app)
          raise UserMistake, "no app given: name a config.ru, or a command after `--`, such as `-- bundle exec puma`" if words.empty?
          return Host::Command.of_rackup(words.first) if words.size == 1 && (words.first.end_with?(".ru") || File.file?(words.first))
          folder = File.expand_path(directory || ".")
          raise UserMistake, "--directory #{directory}: there is no such folder" unless File.directory?(folder)
          Host::Command.of_words(words, directory: folder)
        end

        # @return [Load::Traffic]
        def traffic_of(path:, connections:, load_generator:, seed:, requests: nil, rate: nil, arrivals: nil, **)
          Load::Traffic.new(
            mix: requests ? Load::Mix.read(requests) : Load::Mix.of_paths(path),
            generator: Load.generator(load_generator), arrivals: rate ? open_arrivals(rate, arrivals) : Load::Arrivals.closed,
            connections_count: Parse.count("--connections", connections, 1..10_000), seed: Parse.count("--seed", seed, 0..2**31)
          ).insist_on_generator
        end

        def open_arrivals(rate, kind)
          raise UserMistake, "--arrivals #{kind}: there is poisson and even" unless %w[poisson even].include?(kind)
          Load::Arrivals.open(Parse.count("--rate", rate, 1..200_000), kind:)
        end

        def boot_limit_s(boot_limit:, **) = Parse.seconds("--boot-limit", boot_limit)
      end
    end
  end
end
