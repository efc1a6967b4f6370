# frozen_string_literal: true

module Accuracy
  # Who held the GVL, where that is known.
  module Blame
    # The endpoint whose waits are looked at.
    WAITING = "/wait"

    # Who holds the GVL while it waits, in the page's order.
    module Scenarios
      # paths: a client asks each over and over; background: whether a thread computes beside them; holders: whose shares are known
      Entry = Data.define(:name, :title, :paths, :background, :holders)

      ALL = [
        Entry.new(name: "computes", title: "an endpoint that computes 40 ms and waits for nothing", paths: %w[/wait /compute],
          background: false, holders: ["GET /compute"]),
        Entry.new(name: "tail", title: "an endpoint that sleeps 20 ms, then computes 40 ms up to its end", paths: %w[/wait /tail],
          background: false, holders: ["GET /tail"]),
        Entry.new(name: "background", title: "a thread that computes 30 ms, then sleeps 20 ms", paths: %w[/wait],
          background: true, holders: ["importer"]),
        Entry.new(name: "collector", title: "an endpoint that computes 20 ms, then collects garbage", paths: %w[/wait /collect],
          background: false, holders: ["GET /collect", "(gc)"]),
        Entry.new(name: "several", title: "three endpoints and the thread, all at once", paths: %w[/wait /compute /tail /short],
          background: true, holders: ["GET /compute", "GET /tail", "GET /short", "importer"])
      ].freeze

      NAMES = ALL.map(&:name).freeze

      # @return [Entry]
      def self.entry(name) = ALL.find { |entry| entry.name == name } || raise(KeyError, "no scenario #{name}")
    end
  end
end
