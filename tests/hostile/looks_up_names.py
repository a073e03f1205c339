"""Asks the domain name system, and sends a datagram. Status: blocked

Held by: namespaces or seccomp, container: seccomp
"""

import socket

try:
    socket.getaddrinfo("example.org", 80)
    words = ["looked up"]
except OSError:
    words = []
datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagram.sendto(words[0].encode() if words else b"x", ("127.0.0.1", 53))
