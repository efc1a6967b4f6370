# frozen_string_literal: true

# To Ruby code there is no /proc: what opens, reads or looks at files does as if that folder and each file there was missing.
# Nor are there clocks of other processes, which Linux alone has.
module RefuseProc
  def self.hidden?(path)
    text = path.respond_to?(:to_path) ? path.to_path : path
    text.is_a?(String) && (text == "/proc" || text.start_with?("/proc/"))
  end

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

  # The number of such a clock is made of the process id, and below zero.
  module NoClocks
    def clock_gettime(clock, *unit)
      raise Errno::EINVAL, "clock_gettime" if clock.is_a?(Integer) && clock.negative?
      super
    end
  end
end

File.singleton_class.prepend(RefuseProc::Raising, RefuseProc::Absent)
Dir.singleton_class.prepend(RefuseProc::Empty)
Process.singleton_class.prepend(RefuseProc::NoClocks)
