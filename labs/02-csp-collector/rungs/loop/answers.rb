# frozen_string_literal: true

class CspLoop
  # What the loop answers, as bytes.
  module Answers
    def self.bytes(status, *headers) = ["HTTP/1.1 #{status}", "Content-Length: 0", *headers, "", ""].join("\r\n").freeze

    CREATED = bytes("201 Created")
    CREATED_LAST = bytes("201 Created", "Connection: close")
    NOT_JSON = bytes("400 Bad Request")
    NO_HTTP = bytes("400 Bad Request", "Connection: close")
    UNKNOWN = bytes("404 Not Found", "Connection: close")
    NO_LENGTH = bytes("411 Length Required", "Connection: close")
    TOO_LONG = bytes("413 Content Too Large", "Connection: close")
    FAILED = bytes("503 Service Unavailable", "Connection: close")
  end
end
