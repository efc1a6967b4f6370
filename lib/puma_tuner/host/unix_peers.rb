# frozen_string_literal: true

require "socket"

module PumaTuner
  module Host
    # Which Unix sockets are connected with which: only the kernel's socket diagnosis tells (sock_diag(7), unix_diag.h).
    module UnixPeers
      NETLINK, SOCK_DIAG = 16, 4
      BY_FAMILY, DONE = 20, 3
      REQUEST_ALL = 0x301
      SHOW_PEER = 4
      PEER = 2
      HEADER_BYTES = 16
      MOST_BYTES = 1 << 16

      # A kernel answers at once, or never, where a sandbox stands in for it.
      ANSWER_S = 1

      module_function

      # @param inodes [Array<String>]
      # @return [Array<String>] inodes of the sockets at the other ends; empty where the kernel does not tell
      def of(inodes)
        return [] if inodes.empty?
        pairs.values_at(*inodes).compact
      rescue SystemCallError, SocketError
        []
      end

      # @return [Hash{String => String}] all connected sockets, by inode
      def pairs
        socket = Socket.new(NETLINK, Socket::SOCK_DGRAM, SOCK_DIAG)
        body = [Socket::AF_UNIX, 0, 0, 0xffffffff, 0, SHOW_PEER, 0, 0].pack("CCSLLLLL")
        socket.send([HEADER_BYTES + body.bytesize, BY_FAMILY, REQUEST_ALL, 1, 0].pack("LSSLL") + body, 0)
        found = {}
        while socket.wait_readable(ANSWER_S)
          break unless messages(socket.recv(MOST_BYTES)) { |inode, peer| found[inode] = peer }
        end
        found
      ensure
        socket&.close
      end

      # @return [Boolean] whether more are to come
      def messages(text)
        until text.empty?
          length, type = text.unpack("LS")
          return false if type != BY_FAMILY || length < HEADER_BYTES
          message = text.byteslice(HEADER_BYTES...length)
          peer = peer_of(message.byteslice(16..))
          yield message.unpack1("x4L").to_s, peer.to_s if peer
          text = text.byteslice(aligned(length)..).to_s
        end
        true
      end

      def peer_of(attributes)
        until attributes.to_s.bytesize < 4
          length, type = attributes.unpack("SS")
          return attributes.unpack1("x4L") if type == PEER
          attributes = attributes.byteslice([aligned(length), 4].max..)
        end
      end

      def aligned(length) = (length + 3) & ~3
    end
  end
end
