# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # JSON, written or read, as a share of the whole. What it can be replaced by was "surprisingly faster" for one who
      # tried (osyoyu, Kaigi on Rails 2024), before json 2.10; whether it still is, is for a proof.
      #
      # Evidence: 3% of the time or more below JSON, Oj, MultiJson or Active Support's encoder.
      class JsonShare
        FAMILY = Regexp.union(/\A(?:JSON(?:::|[#.])|Oj(?:::|[#.])|MultiJson)/,
          /\A(?:ActiveSupport::JSON|ActiveSupport::ToJsonWithActiveSupportEncoder)/, /[#.](?:to_json|as_json)\z/)
        FILES = %r{/(?:json|oj|multi_json|yajl-ruby)-\d}

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          Share.hint(costs, rule: "json_share", what: "JSON",
            cure: "The newest json gem first (much faster from 2.10 on than before); Oj in its own mode; " \
              "JSON::Coder for values of known types; or send less.",
            proof: "puma_tuner prove --variant today: --variant newest:gem.json=VERSION " \
              "--primary cpu_per_request") do |method|
            FAMILY.match?(method.name) || FILES.match?(method.path.to_s)
          end
        end
      end
    end
  end
end
