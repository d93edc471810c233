#!/usr/bin/env python3
"""@NAME@: one process is one turn. The message is in AGENT_MESSAGE; lines on stdout are the reply."""
import json
import os

turn = int(os.environ["AGENT_SESSION_ID"] or 0) + 1

# The id of the conversation: it comes back as AGENT_SESSION_ID with the next message.
print(f"AGENT_SESSION:{turn}")

# A piece of the reply, shown at once: a JSON string. Without the flush it would wait.
print("AGENT_PARTIAL:" + json.dumps("Let me see. "), flush=True)

# The lines of a message are indented: none may look like a line of the protocol.
message = os.environ["AGENT_MESSAGE"].replace("\n", "\n  ")
print(f"You said in turn {turn}: {message}")
