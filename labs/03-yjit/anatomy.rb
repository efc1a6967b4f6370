# frozen_string_literal: true

module PumaTuner
  module Labs
    # What a server's memory consists of, read from outside: each resident page is of machine code, of Ruby's heap, of malloc, of a stack or of a file, and
    # is a process's own or still shared with the one that it was forked from. /proc/PID/maps tells the mappings, /proc/PID/pagemap the pages
    # (https://docs.kernel.org/admin-guide/mm/pagemap.html). A page of Ruby's heap is known by its first word: it points to a record that
    # points back, in Ruby 3.4 to the page, in 3.3 to the page's first object.
    module Anatomy
      # In the order in which they are told. code: mappings that may be executed and are of no file, which is YJIT's alone in these services
      KINDS = %i[code heap malloc stack file].freeze
      TITLES = {code: "machine code (YJIT)", heap: "Ruby's heap", malloc: "malloc: YJIT's metadata, and all else", stack: "stacks", file: "mapped files"}.freeze

      PAGE_BYTES = 4_096

      # Bits of a page in pagemap.
      PRESENT = 1 << 63
      ALONE = 1 << 56

      # A page of Ruby's heap (gc.c: HEAP_PAGE_SIZE), and how far into its record the pointer back may be.
      HEAP_PAGE_BYTES = 65_536
      RECORD_BYTES = 128

      # The first object begins after the page's first word, and at most one slot later (gc.c: heap_page_allocate); slots have up to
      # 640 bytes.
      FIRST_OBJECT_BYTES = 1_024

      # own, shared: {kind => bytes that are resident}, of one process, or of a server
      Memory = Data.define(:own, :shared) do
        # @param processes [Array<Memory>] of one server
        # @return [Memory] own pages added up; shared ones are the same in all, so whoever has most of them stands for all
        def self.of_server(processes)
          new(own: KINDS.to_h { |kind| [kind, processes.sum { |one| one.own.fetch(kind) }] },
            shared: KINDS.to_h { |kind| [kind, processes.map { |one| one.shared.fetch(kind) }.max] })
        end

        # @return [Integer] bytes of a kind, shared ones once
        def bytes(kind) = own.fetch(kind) + shared.fetch(kind)

        # @return [Integer] all together
        def total_bytes = KINDS.sum { |kind| bytes(kind) }
      end

      # A mapping of /proc/PID/maps.
      Mapping = Data.define(:from, :to, :rights, :path) do
        # @param line [String]
        def self.parse(line)
          range, rights, _, _, _, path = line.split(" ", 6)
          new(*range.split("-").map(&:hex), rights, path.to_s.strip)
        end

        # @param before [Mapping, nil] the one below it: a thread's stack lies above a page that nobody may touch
        # @return [Symbol] of KINDS; what lies in Ruby's heap is told by its pages
        def kind(before)
          return :file if path.start_with?("/")
          return :code if rights.include?("x") && path.empty?
          return :stack if path == "[stack]" || (before&.rights == "---p" && before.to == from && before.to - before.from == PAGE_BYTES)
          :malloc
        end
      end

      module_function

      # @param pids [Array<Integer>] of one server, this process's descendants
      # @return [Memory, nil] nil where the kernel does not let us look, or a process has gone
      def of_server(pids)
        memories = pids.map { |pid| of_process(pid) }
        Memory.of_server(memories) if memories.any? && memories.all?
      end

      # @param pid [Integer]
      # @return [Memory, nil] as above
      def of_process(pid)
        own, shared = Array.new(2) { KINDS.to_h { |kind| [kind, 0] } }
        mappings = File.readlines("/proc/#{pid}/maps").map { |line| Mapping.parse(line) }
        File.open("/proc/#{pid}/pagemap", "rb") do |pagemap|
          File.open("/proc/#{pid}/mem", "rb") do |memory|
            [nil, *mappings].each_cons(2) do |before, mapping|
              next if mapping.path == "[vsyscall]"
              add(mapping, mapping.kind(before), pages(pagemap, mapping), memory, own, shared)
            end
          end
        end
        Memory.new(own:, shared:)
      rescue SystemCallError
        nil
      end

      def pages(pagemap, mapping)
        pagemap.pread((mapping.to - mapping.from) / PAGE_BYTES * 8, mapping.from / PAGE_BYTES * 8).unpack("Q*")
      rescue EOFError
        []
      end

      def add(mapping, kind, pages, memory, own, shared)
        heap = (kind == :malloc) ? heap_pages(mapping, pages, memory) : {}
        pages.each_with_index do |entry, index|
          next if (entry & PRESENT).zero?
          one = heap.key?((mapping.from + index * PAGE_BYTES) / HEAP_PAGE_BYTES) ? :heap : kind
          ((entry & ALONE).zero? ? shared : own)[one] += PAGE_BYTES
        end
      end

      # @return [Hash{Integer => true}] by the address over HEAP_PAGE_BYTES
      def heap_pages(mapping, pages, memory)
        first = -mapping.from.div(-HEAP_PAGE_BYTES)
        (first...(mapping.to / HEAP_PAGE_BYTES)).select { |number|
          entry = pages[(number * HEAP_PAGE_BYTES - mapping.from) / PAGE_BYTES]
          entry && (entry & PRESENT).nonzero? && heap_page?(number * HEAP_PAGE_BYTES, memory)
        }.to_h { |number| [number, true] }
      end

      def heap_page?(address, memory)
        record = memory.pread(8, address).unpack1("Q")
        return false if record.zero? || (record % 8).nonzero? || record >= 1 << 47
        memory.pread(RECORD_BYTES, record).unpack("Q*").any? { |word| word.between?(address, address + FIRST_OBJECT_BYTES) }
      rescue SystemCallError, EOFError
        false # it points nowhere
      end
    end
  end
end
