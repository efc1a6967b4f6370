# frozen_string_literal: true

module OtherGenerators
  # The Lua program that makes wrk send a mix, count statuses, and hand over its histogram.
  #
  # wrk tells a script neither which connection asks for a request nor which request a response belongs to. So responses
  # are counted by status for the mix as a whole.
  class WrkScript
    # Begins the line with our figures, among those that wrk prints.
    MARK = "PUMA_TUNER "

    # @param mix [Mix]
    # @param seed [Integer] of the order of requests
    def initialize(mix, seed)
      @mix = mix
      @seed = seed
    end

    # @return [String] Lua
    def to_s = [SENDING, *@mix.requests.map { |request| formatted(request) }, order, "end", COUNTING].join("\n")

    private

    # One function each: Lua bounds the number of constants in a function.
    def formatted(request)
      headers = request.headers.map { |name, value| "[#{quote(name)}]=#{quote(value)}" }.join(", ")
      body = request.body ? quote(request.body) : "nil"
      "  add(function() return #{quote(request.http_method)}, #{quote(request.path)}, {#{headers}}, #{body} end)"
    end

    def order = "  for number in string.gmatch(\"#{@mix.order(@seed).map(&:succ).join(" ")}\", \"%d+\") do order[#order + 1] = tonumber(number) end"

    def quote(text) = %("#{text.b.gsub(/[^ !#-\[\]-~]/n) { |byte| format("\\%03d", byte.ord) }}")

    # wrk calls request() once to check it, before anything is sent: the order begins with the call after that.
    SENDING = <<~LUA
      local threads, requests, order, calls_count = {}, {}, {}, -1
      statuses = {}
      function setup(thread) threads[#threads + 1] = thread end
      function request()
        calls_count = calls_count + 1
        return requests[order[(calls_count - 1) % #order + 1]]
      end
      function response(status) statuses[status] = (statuses[status] or 0) + 1 end
      local function add(parts) requests[#requests + 1] = wrk.format(parts()) end
      function init()
    LUA

    # wrk's own way to its histogram walks from the start for each value: seconds, after a stall in a fast run. So it is
    # read in place where LuaJIT can, once the first fields have proved to lie where they are expected.
    COUNTING = <<~LUA
      local function in_place(latency)
        local ffi = require("ffi")
        ffi.cdef("typedef struct { uint64_t count, limit, min, max, data[1]; } tuner_stats;")
        local stats = ffi.cast("tuner_stats **", latency)[0]
        local min, max, pairs = tonumber(stats.min), tonumber(stats.max), {}
        if min ~= latency.min or max ~= latency.max or max >= tonumber(stats.limit) then return nil end
        for us = min, max do
          local count = tonumber(stats.data[us])
          if count > 0 then pairs[#pairs + 1] = string.format("[%.0f,%.0f]", us, count) end
        end
        return pairs
      end
      local function one_by_one(latency)
        local pairs = {}
        for index = 1, #latency do pairs[index] = string.format("[%.0f,%.0f]", latency(index)) end
        return pairs
      end
      function done(summary, latency)
        local readable, samples = pcall(in_place, latency)
        if not (readable and samples) then samples = one_by_one(latency) end
        local counts = {}
        for status, count in pairs(threads[1]:get("statuses")) do counts[#counts + 1] = string.format('"%.0f":%.0f', status, count) end
        local errors = summary.errors
        io.write(string.format('\\n#{MARK}{"duration_us":%.0f,"requests_count":%.0f,"socket_errors_count":%.0f,"statuses":{%s},"latencies":[%s]}\\n',
          summary.duration, summary.requests, errors.connect + errors.read + errors.write + errors.timeout,
          table.concat(counts, ","), table.concat(samples, ",")))
      end
    LUA
    private_constant :SENDING, :COUNTING
  end
end
