"""Starts a thread that never ends, which would hold up an ordinary exit. Status: ok

Held by: end
"""

import threading
import time

threading.Thread(target=time.sleep, args=(3600,)).start()
