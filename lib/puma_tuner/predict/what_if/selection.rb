# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # Selects the endpoints that an expression is about: "GET /articles" is that one; "/articles" the same with any
      # verb; "/articles*" all that begin so.
      module Selection
        # More names in a message help nobody.
        NAMES_MAX = 20

        module_function

        # @param expression [Expression]
        # @param endpoints [Array<Model::EndpointDemand>]
        # @return [Array<Model::EndpointDemand>] all of them when the expression names none
        # @param hint [String, nil] what else it may have been meant to name
        # @raise [UsageError] when there is none such
        def of(expression, endpoints, hint: nil)
          selector = expression.selector or return endpoints
          found = exactly(selector, endpoints)
          # A route may hold a * of its own, so a name that is there counts before a pattern.
          if found.empty?
            found = endpoints.select { |endpoint| names(endpoint).any? { |name| File.fnmatch?(selector, name) } }
          end
          return found unless found.empty?
          expression.refuse("there is no endpoint #{selector}; there is #{list(endpoints.map(&:name))}#{hint}")
        end

        def exactly(selector, endpoints) = endpoints.select { |endpoint| names(endpoint).include?(selector) }

        # @return [Array<String>] with the verb and without
        def names(endpoint) = [endpoint.name, endpoint.name.sub(/\A[A-Z]+ /, "")]

        def list(names)
          if names.size > NAMES_MAX
            "#{names.first(NAMES_MAX).join(", ")} and #{names.size - NAMES_MAX} more"
          else
            names.join(", ")
          end
        end
      end
    end
  end
end
