#!/usr/bin/env python3
"""Answers word by word. A partial is a JSON string behind AGENT_PARTIAL: and has
to be flushed; the session id is whatever helps to know the conversation again."""

import json
import os
import uuid


def partial(text):
    print("AGENT_PARTIAL:" + json.dumps(text), flush=True)


session = os.environ["AGENT_SESSION_ID"] or uuid.uuid4().hex
print("AGENT_SESSION:" + session, flush=True)
greeting = "Again:" if os.environ["AGENT_SESSION_ID"] else "Hello:"
partial(greeting)
for word in os.environ["AGENT_MESSAGE"].split():
    partial(" " + word)
partial("\n")
if os.environ["AGENT_STREAMING"] != "1":
    print(greeting, *os.environ["AGENT_MESSAGE"].split())
