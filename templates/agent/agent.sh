#!/bin/sh
# @NAME@: one process is one turn. The message is in AGENT_MESSAGE; lines on stdout are the reply.
turn=$((${AGENT_SESSION_ID:-0} + 1))

# The id of the conversation: it comes back as AGENT_SESSION_ID with the next message.
echo "AGENT_SESSION:$turn"

# A piece of the reply, shown at once: a JSON string.
echo 'AGENT_PARTIAL:"Let me see. "'

# The lines of a message are indented: none may look like a line of the protocol.
printf 'You said in turn %s: %s\n' "$turn" "$AGENT_MESSAGE" | sed '2,$s/^/  /'
