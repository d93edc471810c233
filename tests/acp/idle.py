"""A process without a turn is ended, and the next turn has another: idle.py PERCH PROFILE"""
import os
import sys
import time

from bridge import Bridge

bridge = Bridge(*sys.argv[1:])
bridge.send(id="1", message="pid")
bridge.until("end", "1")
first = int(bridge.replies["1"])
for _ in range(1200):
    if not os.path.exists(f"/proc/{first}"):
        break
    time.sleep(0.05)
else:
    sys.exit("the idle process does not end")
bridge.send(id="2", message="pid")
assert bridge.until("end", "2")["success"]
assert int(bridge.replies["2"]) != first
bridge.close()
