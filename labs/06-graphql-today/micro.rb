# frozen_string_literal: true

# Single operations that were suspected, nanoseconds each, best of five; some turned out to be worth a cure and some not.
#
#     bin/exec ruby [--yjit] labs/06-graphql-today/micro.rb
module GraphqlToday
  module Micro
    COUNT = 300_000
    Thing = Struct.new(:name)
    Finalizer = Module.new
    PROTOTYPE = {"id" => nil, "title" => nil, "body" => nil, "url" => nil}.freeze

    module_function

    def nanoseconds
      Array.new(5) do
        from = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        yield
        (Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - from) * 1e9 / COUNT
      end.min
    end

    def tell(what, ns) = puts(format("%6.0f ns  %s", ns, what))

    def call
      thing = Thing.new("x")
      nothing = {}.freeze
      kind = String
      tell "a hash by identity, replaced", nanoseconds { COUNT.times { {}.compare_by_identity.replace(PROTOTYPE) } }
      tell "an ordinary hash, replaced", nanoseconds { COUNT.times { {}.replace(PROTOTYPE) } }
      tell "public_send with an empty splat", nanoseconds { COUNT.times { thing.public_send(:name, **nothing) } }
      tell "public_send", nanoseconds { COUNT.times { thing.public_send(:name) } }
      tell "is_a? of a module", nanoseconds { COUNT.times { thing.name.is_a?(Finalizer) } }
      tell "a class compared", nanoseconds { COUNT.times { (own = thing.name.class) && own.equal?(kind) } } # standard:disable Style/ClassEqualityComparison -- this is what is timed
    end
  end
end

GraphqlToday::Micro.call
