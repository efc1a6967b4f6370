# frozen_string_literal: true

# To Ruby code there is nothing in /proc: what opens, reads or looks at files does as if each file there was missing.
module RefuseProc
  def self.hidden?(path) = (path.is_a?(String) || path.respond_to?(:to_path)) && (path.respond_to?(:to_path) ? path.to_path : path).start_with?("/proc/")

  # Class methods that raise where there is no such file.
  RAISING = %i[open read binread foreach readlines readlink stat lstat write new].freeze
  module Raising
    RAISING.each do |name|
      define_method(name) do |path = nil, *rest, **options, &block|
        raise Errno::ENOENT, path.to_s if RefuseProc.hidden?(path)
        super(path, *rest, **options, &block)
      end
    end
  end

  module Absent
    %i[exist? file? directory? readable?].each { |name| define_method(name) { |path| !RefuseProc.hidden?(path) && super(path) } }
  end

  module Empty
    def [](*patterns, **) = (patterns.all? { |pattern| RefuseProc.hidden?(pattern) }) ? [] : super

    def children(path, **) = RefuseProc.hidden?(path) ? raise(Errno::ENOENT, path.to_s) : super
  end
end

File.singleton_class.prepend(RefuseProc::Raising, RefuseProc::Absent)
Dir.singleton_class.prepend(RefuseProc::Empty)
