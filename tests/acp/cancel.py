"""Turns that are cancelled: cancel.py PERCH PROFILE"""
import sys

from bridge import Bridge

bridge = Bridge(*sys.argv[1:])
bridge.send(id="0", message="pid")
bridge.until("end", "0")

# One that obeys: its process goes on.
bridge.send(id="1", message="slow")
bridge.until("partial", "1")
bridge.send(cancel="1")
end = bridge.until("end", "1")
assert end["cancelled"] and end["exit_code"] == 130 and end["stop_reason"] == "cancelled", end
bridge.send(id="2", message="pid")
bridge.until("end", "2")
assert bridge.replies["2"] == bridge.replies["0"]

# With a question open.
bridge.send(id="3", message="permit")
bridge.until("permission", "3")
bridge.send(cancel="3")
end = bridge.until("end", "3")
assert end["cancelled"], end

# One that does not: the turn ends all the same, and the next one has another process.
bridge.send(id="4", message="stubborn")
bridge.until("partial", "4")
bridge.send(cancel="4")
end = bridge.until("end", "4")
assert end["cancelled"] and end["exit_code"] == 130, end
bridge.send(id="5", message="pid")
assert bridge.until("end", "5")["success"]
assert bridge.replies["5"] != bridge.replies["0"]
bridge.close()
