# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # The hint of what JSON takes, written or read, as a share of the whole. What it can be replaced by was
      # "surprisingly faster" for one who tried (osyoyu, Kaigi on Rails 2024), before json 2.10; whether it still is, is
      # for a proof.
      #
      # Evidence: 3% of the time or more below JSON, Oj, MultiJson or Active Support's encoder. Records that are loaded
      # only when they are written are no work of JSON's: what Active Record and the clients of databases take below it
      # does not count. A newer json is told of only where an older one is loaded, or nobody knows which.
      class JsonShare
        ACTIVE_SUPPORT = /\A(?:ActiveSupport::JSON|ActiveSupport::ToJsonWithActiveSupportEncoder)/
        FAMILY = Regexp.union(/\A(?:JSON(?:::|[#.])|Oj(?:::|[#.])|MultiJson)/, ACTIVE_SUPPORT,
          /[#.](?:to_json|as_json)\z/)
        FILES = %r{/(?:json|oj|multi_json|yajl-ruby)-\d}
        ACTIVE_RECORD = %r{/activerecord(?:-\d|/lib/)}

        # From this on json is much faster than before.
        FAST_VERSION = Gem::Version.new("2.10")

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          what = version(costs) ? "JSON (json #{version(costs)})" : "JSON"
          Share.hint(costs, rule: "json_share", what: ->(_) { what }, other: method(:records?),
            cure: ->(names) { cure(names, costs) }, proof: ->(_) { proof(costs) }) do |method|
            FAMILY.match?(method.name) || FILES.match?(method.path.to_s)
          end
        end

        private

        def records?(method)
          ACTIVE_RECORD.match?(method.path.to_s) || DatabaseClientShare::FAMILY.match?(method.name)
        end

        def version(costs) = costs.gems["json"]

        def old?(costs) = version(costs).nil? || Gem::Version.new(version(costs)) < FAST_VERSION

        def cure(names, costs)
          all = [("the newest json gem first (much faster from 2.10 on than before)" if old?(costs)),
            ("plain `JSON.generate` where Active Support's encoder is not needed" if names.grep(ACTIVE_SUPPORT).any?),
            ("Oj in its own mode, not in the one that imitates json" if names.grep(/\AOj/).any?),
            "JSON::Coder for values of known types", "send less"].compact.uniq
          "#{all.join("; or ").sub(/\A./, &:upcase)}."
        end

        def proof(costs)
          return "puma_tuner prove today.ru other_json.ru --primary cpu_per_request" unless old?(costs)
          "puma_tuner prove --variant today: --variant newest:gem.json=VERSION --primary cpu_per_request"
        end
      end
    end
  end
end
