# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # The gems of this lab's servers and blocks, what they depend on included.
      module Pins
        PUMA = {"puma" => "8.0.2", "nio4r" => "2.7.5", "rack" => "3.2.8", "trilogy" => "2.13.3", "bigdecimal" => "4.1.3"}.freeze

        SESSION = {"rack-session" => "2.1.2", "base64" => "0.3.0"}.freeze

        JSON = {"json" => %w[2.7.2 3.1.0], "oj" => "3.17.8", "ostruct" => "0.6.3"}.freeze

        FALCON = {
          "falcon" => "0.57.0", "async" => "2.46.0", "async-container" => "0.38.0", "async-http" => "0.105.0", "async-http-cache" => "0.4.6", "async-pool" => "0.12.0",
          "async-service" => "0.25.0", "async-utilization" => "0.5.0", "console" => "1.38.0", "fiber-annotation" => "0.2.0", "fiber-local" => "1.1.0",
          "fiber-storage" => "1.0.1", "io-endpoint" => "0.19.0", "io-event" => "1.22.3", "io-stream" => "0.14.0", "protocol-hpack" => "1.5.1",
          "protocol-http" => "0.72.1", "protocol-http1" => "0.41.1", "protocol-http2" => "0.29.2", "protocol-rack" => "0.23.0", "protocol-url" => "0.19.0",
          "string-format" => "0.2.0"
        }.freeze

        MYSQL2 = "0.5.7"

        module_function

        # @return [Array<Lab::Gems::Pin>] the same for both forms: each has all parts
        def all = Lab::Gems.pins({**PUMA, **SESSION, **JSON, **FALCON, "mysql2" => MYSQL2})

        # @param names [Hash{String => String}] gems
        # @return [Hash{String => String}] factors
        def factors(names) = names.transform_keys { |name| "gem.#{name}" }
      end
    end
  end
end
