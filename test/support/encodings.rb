# frozen_string_literal: true

require "open3"

# Rubies that take a file for something else than UTF-8: where no locale is set, and where text is converted as it is read.
module Encodings
  OPTIONS = %w[US-ASCII US-ASCII:UTF-8 UTF-8:ISO-8859-1].freeze

  # Has letters that ISO-8859-1 does not have.
  NAME = "GET /größe→"

  # @param script [String] which finds NAME there, too
  # @return [Array<String>] what it prints in each of them
  def in_each_encoding(script, *words)
    script = "NAME = #{NAME.dump}; #{script}"
    folders = %w[lib probe/lib].flat_map { |folder| ["-I", File.expand_path("../../#{folder}", __dir__)] }
    OPTIONS.map do |encodings|
      out, status = Open3.capture2e({"LC_ALL" => "C", "LANG" => "C"}, RbConfig.ruby, "-E", encodings, *folders, "-e", script, *words)
      assert_predicate status, :success?, "#{encodings}: #{out}"
      out.chomp
    end
  end
end
