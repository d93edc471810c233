#!/usr/bin/env node
// @NAME@: one process is one turn. The message is in AGENT_MESSAGE; lines on stdout are the reply.
const turn = Number(process.env.AGENT_SESSION_ID || 0) + 1;

// The id of the conversation: it comes back as AGENT_SESSION_ID with the next message.
console.log(`AGENT_SESSION:${turn}`);

// A piece of the reply, shown at once: a JSON string.
console.log("AGENT_PARTIAL:" + JSON.stringify("Let me see. "));

// The lines of a message are indented: none may look like a line of the protocol.
const message = process.env.AGENT_MESSAGE.replaceAll("\n", "\n  ");
console.log(`You said in turn ${turn}: ${message}`);
