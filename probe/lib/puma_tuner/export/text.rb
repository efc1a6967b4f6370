# frozen_string_literal: true

module PumaTuner
  module Export
    # Prometheus' text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
    module Text
      CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

      ESCAPES = {"\\" => "\\\\", "\"" => "\\\"", "\n" => "\\n"}.freeze

      module_function

      # @param families [Array<Family>]
      # @param labels [Hash{Symbol => String}] that every sample gets
      # @return [String]
      def of(families, labels = {})
        families.select(&:any?).each_with_object(+"") do |family, text|
          text << "# HELP #{family.name} #{family.help.gsub(/[\\\n]/, ESCAPES)}\n# TYPE #{family.name} #{family.type}\n"
          family.samples.each { |own, value| sample(text, family.name, labels.merge(own), value) }
        end
      end

      def sample(text, name, labels, value)
        list = labels.map { |label, content| "#{label}=\"#{content.to_s.gsub(/[\\"\n]/, ESCAPES)}\"" }.join(",")
        return text << "#{name}#{"{#{list}}" unless list.empty?} #{value}\n" unless value.is_a?(Buckets)
        before = "#{name}_bucket{#{list}#{"," unless list.empty?}le=\""
        cumulative = value.cumulative
        cumulative.each { |bound, count| text << before << bound << "\"} " << count.to_s << "\n" }
        ending = "{#{list}}" unless list.empty?
        text << "#{name}_sum#{ending} #{value.sum_ns.fdiv(1_000_000_000)}\n#{name}_count#{ending} " \
          "#{cumulative.last.last}\n"
      end
      private_class_method :sample
    end
  end
end
