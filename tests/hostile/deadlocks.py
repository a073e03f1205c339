"""Waits for a lock that it holds. Status: timeout

Held by: deadline
"""

import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
