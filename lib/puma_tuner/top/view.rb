# frozen_string_literal: true

module PumaTuner
  module Top
    # What is shown, as keys have left it.
    #
    # page: of PAGES; sorts: by page, one of its SORTS
    # frozen: the Status that the screen stands still at, nil while it does not; difference: whether what is now is held
    #   against that
    # help: whether the keys are explained; message: a Statement about the last key, or nil
    View = Data.define(:page, :sorts, :frozen, :difference, :help, :message) do
      # @return [View] at first
      def self.first
        new(page: :endpoints, sorts: View::SORTS.transform_values(&:first), frozen: nil, difference: false, help: false,
          message: nil)
      end

      # @param key [String] one character
      # @param now [Status, nil] the newest
      # @return [Array(View, Symbol)] what is shown after it, and what is to be done: :quit, :snapshot,
      #   :profile or nil
      def press(key, now)
        return [self, :quit] if key == "q"
        view = with(message: nil)
        return [view.with(help: !help), nil] if key == "?"
        return [view.with(help: false), nil] if help
        return [view, View::ACTIONS.fetch(key)] if View::ACTIONS.key?(key)
        [view.after(key, now), nil]
      end

      # @param now [Status]
      # @return [String, nil] the endpoint in focus: the first row's, nil without any
      def focus(now)
        order = Screen::ORDERS.fetch(sorts.fetch(:endpoints))
        shown(now).requests.min_by.with_index { |row, index| [order.call(row), index] }&.name
      end

      # @return [Symbol] by what rows are sorted
      def sort = sorts.fetch(page)

      # @param now [Status]
      # @return [Status] that is shown
      def shown(now) = (frozen && !difference) ? frozen : now

      # @return [Status, nil] that it is held against
      def held_against = (frozen if difference)

      protected

      def after(key, now)
        case key
        when "e", "w", "t" then with(page: View::PAGES.fetch(key))
        when "s" then with(sorts: {**sorts, page => following(View::SORTS.fetch(page), sort)})
        when " " then with(frozen: (frozen ? nil : now), difference: false)
        when "d" then with(frozen: frozen || now, difference: !difference)
        else self
        end
      end

      private

      def following(list, one) = list[(list.index(one) + 1) % list.size]
    end

    # Of keys.
    View::ACTIONS = {"n" => :snapshot, "p" => :profile}.freeze
    View::PAGES = {"e" => :endpoints, "w" => :workers, "t" => :threads}.freeze

    View::SORTS = {endpoints: %i[requests p99 time name], workers: %i[worker cpu memory queue],
                   threads: %i[made_wait cpu name]}.freeze
  end
end
