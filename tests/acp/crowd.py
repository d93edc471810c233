"""At most one process: an idle one goes, a busy one is told. crowd.py PERCH PROFILE DIRECTORY"""
import sys

from bridge import Bridge

bridge = Bridge(*sys.argv[1:3])
there = {"cwd": sys.argv[3], "session_name": "there"}
bridge.send(id="1", message="slow")
bridge.until("partial", "1")
bridge.send(id="2", message="pid", **there)
refused = bridge.until("error", "2")
assert "acp.max_processes" in refused["message"], refused
bridge.until("end", "2")
bridge.send(cancel="1")
bridge.until("end", "1")
bridge.send(id="3", message="pid", **there)
assert bridge.until("end", "3")["success"]
bridge.close()
