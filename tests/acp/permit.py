"""Answers the permissions of an agent: permit.py PERCH PROFILE"""
import sys

from bridge import Bridge

bridge = Bridge(*sys.argv[1:])
for turn, answer in (("1", {"allow": True}), ("2", {"allow": True, "option": "ever-1"}),
                     ("3", {"allow": False}), ("4", {"allow": True, "option": "once-1"})):
    bridge.send(id=turn, message="permit")
    asked = bridge.until("permission", turn)
    assert asked["tool_name"] == "edit" and asked["description"] == "Change it", asked
    assert [option["id"] for option in asked["options"]] == ["once-1", "ever-1", "no-1"], asked
    bridge.send(permit=turn, request_id=asked["request_id"], **answer)
    bridge.until("end", turn)
    print(bridge.replies[turn])
bridge.close()
