# frozen_string_literal: true

require "open3"

# Runs a program as on a system without /proc: in a mount namespace of its own with an empty folder in that place; where the kernel lets
# nobody make one, with a preloaded Ruby file that refuses to open what is in /proc, which reaches this one process alone.
module WithoutProc
  NAMESPACE = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /proc && exec "$@"', "sh"].freeze

  REFUSAL = File.expand_path("without_proc/refusal.rb", __dir__)

  module_function

  # @return [Symbol] :namespace, or :refusal where there can be none
  def way = @way ||= Open3.capture2e(*NAMESPACE, "true").last.success? ? :namespace : :refusal

  # @param words [Array<String>] of Ruby's command line, after its name
  # @param way [Symbol]
  # @return [Array<String>] the whole command
  def ruby(*words, way: self.way)
    (way == :namespace) ? [*NAMESPACE, RbConfig.ruby, *words] : [RbConfig.ruby, "-r", REFUSAL, *words]
  end
end
