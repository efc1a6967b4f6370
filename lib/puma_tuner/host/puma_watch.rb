# frozen_string_literal: true

module PumaTuner
  module Host
    # Tells when one of Puma's classes comes to be, in a process where Puma may be loaded now, later, or never.
    #
    # It listens to `const_added` on two objects, Object and Puma, which costs nothing once all are loaded. A hook on
    # Kernel#require would be called for every file of the app; a TracePoint would make YJIT throw its code away.
    module PumaWatch
      class << self
        # Calls the block with the class, once; at once when it is there.
        # @param name [Symbol] a constant of Puma, e.g. :Server
        def on(name, &block)
          return block.call(::Puma.const_get(name)) if loaded?(name)
          (waiting[name] ||= []) << block
          defined?(::Puma) ? listen_to_puma : listen_to_object
        end

        # @api private
        def constant_added(owner, name)
          if owner.equal?(Object)
            listen_to_puma if name == :Puma && !Object.autoload?(:Puma)
          elsif loaded?(name)
            waiting.delete(name)&.each { |block| block.call(::Puma.const_get(name)) }
          end
        end

        private

        def waiting = (@waiting ||= {})

        # An autoload is announced like a constant, and must not be triggered by us.
        def loaded?(name)
          defined?(::Puma) && !::Puma.autoload?(name) && ::Puma.const_defined?(name, false)
        end

        def listen_to_object = Object.singleton_class.prepend(Listener)

        def listen_to_puma = ::Puma.singleton_class.prepend(Listener)
      end

      module Listener
        def const_added(name)
          super
          PumaWatch.constant_added(self, name) if equal?(::Object) || (defined?(::Puma) && equal?(::Puma))
        end
      end
    end
  end
end
