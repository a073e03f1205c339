"""Opens a connection. Status: blocked

Held by: namespaces or landlock or seccomp, container: landlock or seccomp
"""

import socket

socket.create_connection(("127.0.0.1", 9), timeout=1)
