# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # Reads the values that a router found in the path, where it leaves them in env. Hanami's router (2 and 3) leaves
      # nothing else: no route.
      module Parameters
        RAILS = "action_dispatch.request.path_parameters"
        NOT_IN_PATHS = %i[controller action format].freeze

        # The body's, the query's and the path's, in this order. The body's can't be told apart: one that equals a part
        # of the path after it is taken for that part.
        HANAMI = "router.params"

        class << self
          # @return [Hash, nil] name to value, in the order of the path
          def of(env)
            if (parameters = env[HANAMI])
              without_query(parameters, env["QUERY_STRING"].to_s)
            else
              env[RAILS]&.except(*NOT_IN_PATHS)
            end
          end

          private

          # A search for "books" at /books is no part of the path.
          def without_query(parameters, query)
            pairs = query.split("&").map { |pair| pair.tr("+", " ").b.gsub(/%(\h\h)/n) { $1.hex.chr } }
            parameters.reject { |name, value| pairs.include?("#{name}=#{value}".b) }
          end
        end
      end
    end
  end
end
