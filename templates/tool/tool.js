#!/usr/bin/env node
// @NAME@: a tool. Two lines come in (perch's hello, one request), two go out (the handshake, one
// response). What it writes to stderr is for people.
const lines = require("readline").createInterface({ input: process.stdin });
const send = (message) => console.log(JSON.stringify(message));
const manifest = {
  plugin_id: "@NAME@",
  plugin_version: "0.1.0",
  protocol_version: "rterm.plugin.v1",
  exposed_tools: ["@NAME@.greet"],
};

function greet({ name }) {
  return { greeting: `Hello, ${name}!` };
}

lines.once("line", () => {
  send({ type: "handshake", manifest });
  lines.once("line", (line) => {
    const request = JSON.parse(line);
    const output = greet(request.input);
    send({ type: "response", request_id: request.request_id, status: "ok", output });
    lines.close();
  });
});
