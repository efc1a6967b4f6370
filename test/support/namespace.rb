# frozen_string_literal: true

require "open3"

# A command that finds other things mounted than the rest of the machine does.
module Namespace
  # @param before [String] what is done as root of a namespace of its own, before the command starts
  # @return [Array<String>] words before those of the command
  def in_namespace(before)
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    _, status = Open3.capture2e(*words, "mount -t tmpfs none /mnt")
    skip "this kernel gives no namespaces to users" unless status.success?
    [*words, "#{before} && exec \"$@\"", "sh"]
  end
end
