"""Waits for a lock that it holds. Status: timeout"""

import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
