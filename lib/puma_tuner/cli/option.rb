# frozen_string_literal: true

module PumaTuner
  module CLI
    # A name of the dictionary: what it means, how its value is read, and what holds without it.
    #
    # type: how a value is read, see READERS, or :flag, :switch (with its --no- form); takes: what help calls the value;
    #   group: heading in help; about: its meaning, in one line;
    # default: as it would be written; usual: what holds without it where that is no fixed value; limits: range of
    #   numbers
    Option = Data.define(:name, :type, :takes, :group, :about, :default, :usual, :limits)

    class Option
      READERS = {
        text: ->(_, text, _) { text }, texts: ->(_, text, _) { text },
        file: ->(flag, text, _) { Parse.path(flag, text) }, folder: ->(flag, text, _) { Parse.path(flag, text) },
        list: ->(_, text, _) { text.split(",") },
        count: ->(flag, text, limits) { Parse.count(flag, text, limits) },
        counts: ->(flag, text, limits) { Parse.counts(flag, text, limits) },
        count_list: ->(flag, text, limits) { text.split(",").map { |number| Parse.count(flag, number, limits) } },
        rates: ->(flag, text, _) { Parse.rates(flag, text) },
        seconds: ->(flag, text, limits) { Parse.seconds(flag, text, least: limits.begin, limit: limits.end) },
        goals: ->(flag, text, _) { Parse.goal(flag, text) },
        per_second: ->(flag, text, _) { Parse.per_second(flag, text) },
        bytes: ->(flag, text, _) { Parse.bytes(flag, text) },
        time: ->(flag, text, _) { Parse.time(flag, text) },
        percent: ->(flag, text, _) { Parse.percent(flag, text) },
        topology: ->(_, text, _) { Topology.parse(text) },
        topologies: ->(_, text, _) { Parse.topologies(text) },
        settings: ->(_, text, _) { (text == "none") ? [] : Parse.topologies(text) }
      }.freeze

      def initialize(name:, type:, takes:, group:, about:, default: nil, usual: nil, limits: nil) = super

      # @return [String] "--boot-limit"
      def flag = "--#{name.to_s.tr("_", "-")}"

      # @return [Array<String>] all that may be written, of a switch its --no- form, too
      def flags = (type == :switch) ? [flag, "--no-#{flag.delete_prefix("--")}"] : [flag]

      def value? = !%i[flag switch].include?(type)

      # @return [Boolean] whether it may be given again
      def repeated? = %i[texts goals].include?(type)

      # @return [Boolean] whether its value is a path, for completions
      def path? = %i[file folder].include?(type)

      # @return [String] as help writes it
      def usage
        return "--[no-]#{flag.delete_prefix("--")}" if type == :switch
        value? ? "#{flag} #{takes}" : flag
      end

      # @return [String] its meaning, and what holds without it
      def told
        without = usual || (default if value?) || ("yes" if default == true)
        [about, (repeated? ? "give it again for more" : nil), ("default: #{without}" if without)].compact.join("; ")
      end

      # @param text [String]
      # @return [Object] of its type
      # @raise [UsageError] with its name
      def read(text, as: flag) = READERS.fetch(type).call(as, text, limits)

      # @return [Object, nil] what holds where it is not given; nil where that depends on other things
      def without_it
        return default || (usual ? nil : false) unless value?
        return [] if repeated?
        default && read(default)
      end
    end
  end
end
