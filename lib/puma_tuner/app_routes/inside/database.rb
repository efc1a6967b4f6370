# frozen_string_literal: true

module PumaTuner
  module AppRoutes
    # Values for the parameters of a route, out of the database of an app with Active Record. Of a parameter that no
    # model stands behind, nothing is known.
    module Database
      class << self
        # @param route [RouteList::Found]
        # @param limit [Integer] rows at most, the newest
        # @return [Array<Array<String>>] a value for each of its names; none where one is unknown
        def rows(route, limit)
          return [] unless defined?(::ActiveRecord::Base)
          own = model_of(route.controller) if route.controller
          of_model(own, route.names, limit) || of_several(own, route.names, limit) || []
        rescue ::ActiveRecord::ActiveRecordError
          [] # there is no such table, or no database
        end

        private

        # All of one model: so what belongs together stays together.
        def of_model(model, names, limit)
          columns = names.map { |name| (name == "id") ? :key : model&.columns_hash&.fetch(name, nil)&.name }
          values(model, columns, limit) if columns.all?
        end

        # Each by itself: whether they belong together, the app's answer tells.
        def of_several(own, names, limit)
          lists = names.map do |name|
            model = (name == "id") ? own : model_of(name.delete_suffix("_id"))
            list = if model && (name == "id" || name.end_with?("_id")) then values(model, [:key], limit)
            elsif own&.columns_hash&.key?(name) then values(own, [name], limit)
            end
            list.to_a.map(&:first)
          end
          return if lists.any?(&:empty?)
          Array.new(lists.map(&:size).max) { |place| lists.map { |list| list[place % list.size] } }
        end

        # @param name [String] "admin/articles", "article"
        # @return [Class, nil]
        def model_of(name)
          full = name.classify
          [full, full.demodulize].uniq.filter_map(&:safe_constantize).find { |one| one.is_a?(Class) && model?(one) }
        end

        def model?(one)
          one < ::ActiveRecord::Base && !one.abstract_class? && one.table_exists? && one.primary_key.is_a?(String)
        end

        # `:key` is what stands in a path: the primary key, unless the model says otherwise.
        def values(model, columns, limit)
          newest = model.order(model.primary_key => :desc).limit(limit)
          rows = if columns.include?(:key) && model.instance_method(:to_param).owner != ::ActiveRecord::Integration
            newest.map { |record| columns.map { |column| (column == :key) ? record.to_param : record[column] } }
          else
            names = columns.map { |column| (column == :key) ? model.primary_key : column }
            newest.pluck(*names).map { |row| Array(row) }
          end
          rows.reject { |row| row.any? { |value| value.nil? || value.to_s.empty? } }.map { |row| row.map(&:to_s) }.uniq
        end
      end
    end
  end
end
