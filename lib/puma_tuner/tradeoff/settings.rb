# frozen_string_literal: true

module PumaTuner
  module Tradeoff
    # A variant's factors as people set them for good: variables of the server's environment.
    module Settings
      module_function

      # @param factors [Hash{String => String}] see Prove::Factors
      # @return [Array<String>] "RUBY_YJIT_ENABLE=1" and the like, a line each
      def lines(factors)
        factors.filter_map do |key, value|
          case key
          when "yjit" then "RUBY_YJIT_ENABLE=1" if value == "on"
          # The same for all, and no part of what was tried.
          when "topology" then nil
          when "rubyopt" then "RUBYOPT=\"#{value}\""
          when "preload" then "LD_PRELOAD=#{value}"
          when /\Aenv\.(.+)/ then "#{$1}=#{value}"
          else "#{key}=#{value}"
          end
        end
      end
    end
  end
end
