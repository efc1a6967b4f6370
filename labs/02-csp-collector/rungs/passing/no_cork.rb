# frozen_string_literal: true

# Puma corks the socket before each answer over TCP and uncorks it afterwards, so that a body leaves with its head: two system
# calls. These answers have no body, and are one write anyway.
class Puma::Server
  def cork_socket(_socket) = nil

  def uncork_socket(_socket) = nil
end
