# frozen_string_literal: true

module PumaTuner
  # The number of workers, and of threads in each. One worker means a single process without a master (`-w 0`): a
  # cluster of one costs a process and gains nothing, as Puma itself warns.
  #
  # workers_count: 1 or more
  # threads_count: pool threads in each worker, Puma's maximum
  Topology = Document.define(:workers_count, :threads_count) do
    # @param text [String] "2x3": two workers of three threads
    # @return [Topology]
    # @raise [UsageError] when it is none
    def self.parse(text)
      # A typing error must start no million of processes or threads.
      match = /\A(\d{1,4})x(\d{1,4})\z/.match(text) or raise UsageError,
        "#{text.to_s[0, 40].inspect} is not a topology; write WORKERSxTHREADS, such as 2x3, each of at most four digits"
      from(match[1].to_i, match[2].to_i)
    end

    # @param workers [Integer] as in Puma's options, where 0 and 1 both mean one process
    # @param threads [Integer] 1 or more
    # @return [Topology]
    # @raise [UsageError] without a thread
    def self.from(workers, threads)
      raise UsageError, "a topology needs at least one thread" unless threads.positive?
      new(workers_count: [workers, 1].max, threads_count: threads)
    end

    # @return [Integer] the value for Puma's -w
    def puma_workers = (workers_count == 1) ? 0 : workers_count

    # @return [String] Puma's own options
    def to_puma_options = "-w #{puma_workers} -t #{threads_count}:#{threads_count}"

    # @return [Integer] requests that can be in the app at once
    def slots_count = workers_count * threads_count

    def to_s = "#{workers_count}x#{threads_count}"
  end
end
