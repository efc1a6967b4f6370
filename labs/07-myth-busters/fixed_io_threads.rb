# frozen_string_literal: true

# Puma 8.0.2 does not count off an IO thread that ends because there are threads enough: its pool then takes itself for full, and starts no other
# (puma/puma#3958). Whoever ends has been taken from the list by the time it calls this, under the pool's lock, so the list has the right number.
module FixedIOThreads
  private

  def trigger_before_thread_exit_hooks
    @spawned = @processors.size
    super
  end
end

Puma::ThreadPool.prepend(FixedIOThreads)
