# frozen_string_literal: true

require "uri"

module PumaTuner
  module Load
    # One request as bytes that go over the wire, for any row of a data file; and the holes in them that each client
    # fills in with what it has (ext/puma_tuner_load/client.h): its values, its cookies, the length of a body that has a
    # value in it.
    class Messages
      FILLINGS = {value: 0, encoded: 1, cookies: 2, body_length: 3}.freeze

      FORM = "application/x-www-form-urlencoded"

      # @param request [Request]
      # @param host [String]
      # @param session [Session, nil] what clients have; nil: nothing, and no cookies are sent
      def initialize(request, host:, session: nil)
        @request = request
        @session = session
        @path = Template::Text.new(request.path)
        @headers = {"Host" => host}.merge(request.headers).transform_values { |value| Template::Text.new(value) }
        @body = request.body && Template::Text.new(request.body)
        @form = request.header("Content-Type").to_s.downcase.start_with?(FORM)
      end

      # @param row [Hash{String => String}] of the data file
      # @return [String, Array(String, String)] bytes; with holes, as the loop takes them
      def with(row)
        @bytes = +"".b
        @holes = []
        write("#{@request.http_method} ")
        fill(@path, row, :encoded)
        write(" HTTP/1.1\r\n")
        write_headers(row)
        @body ? write_body(row) : write("\r\n")
        @holes.empty? ? @bytes : [@bytes, @holes.flatten.pack("L*")]
      end

      private

      def write_headers(row)
        @headers.each do |name, value|
          write("#{name}: ")
          fill(value, row, :value)
          write("\r\n")
        end
        leave(:cookies, 0) if @session && !@request.header("Cookie")
      end

      def write_body(row)
        write("Content-Length: ")
        if client_values?(@body)
          leave(:body_length, @bytes.bytesize + "\r\n\r\n".bytesize)
        else
          write(@body.filled { |name| row.fetch(name) }.bytesize.to_s)
        end
        write("\r\n\r\n")
        fill(@body, row, @form ? :form : :value)
      end

      def client_values?(text) = @session && text.names.any? { |name| @session.place(name) }

      # A data file's values are encoded in paths alone: in a body whoever writes the file knows what it is.
      def fill(text, row, filling)
        text.parts.each_with_index do |part, index|
          place = @session&.place(part) if index.odd?
          if index.even? then write(part)
          elsif place.nil? then write_value(row.fetch(part), filling)
          elsif filling == :form then leave(@session.picked?(part) ? :encoded : :value, place)
          else
            leave(filling, place)
          end
        end
      end

      def write_value(value, filling) = write((filling == :encoded) ? URI.encode_uri_component(value) : value)

      def write(text) = @bytes << text.b

      def leave(filling, argument) = @holes << [@bytes.bytesize, FILLINGS.fetch(filling), argument]
    end
  end
end
