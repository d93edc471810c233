"""A remote MCP server that misbehaves. The path says when and how: /STAGE/MODE, where the stage is the
method at which it happens (open: initialize, call: tools/call). Prints its port; what it was sent goes to the
file of its first argument, a line each. With a second and third argument, a certificate and its key, it
speaks TLS. Ends when its stdin does."""
import base64
import http.server
import json
import os
import socket
import ssl
import sys
import threading
import time

TOOL = {"name": "say", "description": "says it", "inputSchema": {
    "type": "object", "properties": {"text": {"type": "string"}}}}
MARKED = {"name": "mark", "description": "wants its argument as a header", "inputSchema": {
    "type": "object", "properties": {
        "text": {"type": "string", "x-mcp-header": "Text"},
        "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}}}}
UNRULY = {"name": "unruly", "description": "wants a list as a header", "inputSchema": {
    "type": "object", "properties": {"text": {"type": "array", "x-mcp-header": "a b"}}}}
MODERN = "2026-07-28"
log = open(sys.argv[1], "a", buffering=1)
sessions, forgotten, streams = set(), set(), {}
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # ---- pieces of answers

    def head(self, status, kind=None, length=None, **more):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        if length is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def whole(self, status, kind, text, **more):
        body = text.encode()
        self.head(status, kind, len(body), **more)
        self.wfile.write(body)

    def event(self, message, end="\n", **fields):
        for name, value in fields.items():
            self.wfile.write(f"{name}: {value}{end}".encode())
        for line in (message if isinstance(message, str) else json.dumps(message)).split("\n"):
            self.wfile.write(f"data: {line}{end}".encode())
        self.wfile.write(end.encode())
        self.wfile.flush()

    def forever(self, piece=b"", pause=0.05):
        while True:
            if piece:
                self.wfile.write(piece)
                self.wfile.flush()
            else:
                self.connection.settimeout(None)
                if not self.connection.recv(1):
                    return
            time.sleep(pause)

    # ---- what it is asked

    def route(self):
        _, stage, mode = (self.path.split("/") + ["", ""])[:3]
        return stage, mode

    def note(self, words):
        told = {name: value for name, value in self.headers.items()
                if name.lower().startswith(("mcp-", "last-event", "authorization", "x-"))}
        log.write(f"{words} {json.dumps(told, sort_keys=True)}\n")

    def do_DELETE(self):
        self.note("DELETE")
        if self.route()[1] == "hang-delete":
            return self.forever()
        sessions.discard(self.headers.get("Mcp-Session-Id"))
        self.head(204, length=0)

    def do_GET(self):
        self.note("GET")
        last, mode = self.headers.get("Last-Event-ID"), self.route()[1]
        if mode == "listen":
            self.head(200, "text/event-stream")
            self.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, id="n1")
            return self.forever()
        if last and last in streams and not (mode == "resume-never"):
            self.head(200, "text/event-stream")
            return self.event(streams[last], id="e2")
        if last and mode == "resume-never":
            return self.head(200, "text/event-stream")
        self.head(405, length=0)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, stage = message.get("method", "answer"), self.route()[0]
        self.note(f"POST {method}")
        if "Accept" not in self.headers or "application/json" not in self.headers["Accept"]:
            return self.whole(406, "text/plain", "no")
        if self.route()[1] == "modern":
            return self.modern(message)
        if method == "server/discover":
            return self.whole(400, "application/json", json.dumps(
                {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no session"}}))
        stages = {"initialize": "open", "tools/list": "list", "tools/call": "call"}
        if stages.get(method) == stage:
            return self.bend(message)
        self.serve(message)

    def serve(self, message, style="json"):
        method, ident = message.get("method"), message.get("id")
        if method == "initialize":
            name = base64.urlsafe_b64encode(os.urandom(9)).decode()
            sessions.add(name)
            return self.answer(ident, {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "far", "version": "1"}}, style, Mcp_Session_Id=name)
        if self.headers.get("Mcp-Session-Id") not in sessions:
            return self.whole(404, "text/plain", "no such session")
        if self.headers.get("MCP-Protocol-Version") != "2025-11-25":
            return self.whole(400, "text/plain", "no version")
        if ident is None or method is None:
            return self.head(202, length=0)
        if method == "tools/list":
            return self.answer(ident, {"tools": [TOOL]}, style)
        if method == "tools/call":
            text = message["params"].get("arguments", {}).get("text", "hello")
            return self.answer(ident, said(text), style)
        self.whole(200, "application/json", json.dumps(
            {"jsonrpc": "2.0", "id": ident, "error": {"code": -32601, "message": "no such method"}}))

    def answer(self, ident, result, style="json", **more):
        message = {"jsonrpc": "2.0", "id": ident, "result": result}
        if style == "sse":
            self.head(200, "text/event-stream; charset=utf-8", **more)
            self.event({"jsonrpc": "2.0", "method": "notifications/message",
                        "params": {"level": "info", "data": "under way"}}, id="e0")
            return self.event(message, id="e1")
        self.whole(200, "application/json", json.dumps(message), **more)

    # ---- the modern era

    def modern(self, message):
        method, params = message["method"], message.get("params", {})
        meta = params.get("_meta", {})
        right = {"MCP-Protocol-Version": meta.get("io.modelcontextprotocol/protocolVersion"),
                 "Mcp-Method": method, "Mcp-Name": params.get("name")}
        if params.get("name") == "mark":
            given = params.get("arguments", {})
            right["Mcp-Param-Text"] = given.get("text")
            number = given.get("deep", {}).get("n")
            right["Mcp-Param-N"] = None if number is None else str(number)
        for name, value in right.items():
            if decoded(self.headers.get(name)) != value:
                return self.whole(400, "application/json", json.dumps({
                    "jsonrpc": "2.0", "id": message.get("id"), "error": {
                        "code": -32020, "message": f"{name} is {self.headers.get(name)}, not {value}"}}))
        more = {"resultType": "complete",
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "far", "version": "2"}}}
        if method == "server/discover":
            return self.answer(message["id"], dict(
                more, supportedVersions=[MODERN], capabilities={"tools": {}}))
        if method == "tools/list":
            return self.answer(message["id"], dict(more, tools=[TOOL, MARKED, UNRULY], ttlMs=0, cacheScope="private"))
        if method == "tools/call":
            text = params.get("arguments", {}).get("text", "hello")
            if text == "wait":
                self.head(200, "text/event-stream")
                self.forever()
                return log.write("closed\n")
            return self.answer(message["id"], dict(more, **said(text)), "sse")
        if method == "subscriptions/listen":
            self.head(200, "text/event-stream")
            return self.forever()
        self.whole(404, "application/json", json.dumps({
            "jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32601, "message": "no"}}))

    # ---- misbehaviour

    def bend(self, message):
        mode, ident = self.route()[1], message.get("id")
        good = json.dumps({"jsonrpc": "2.0", "id": ident, "result": said("hello")})
        action = getattr(self, "mode_" + mode.replace("-", "_"), None)
        if action:
            return action(message, ident, good)
        self.whole(500, "text/plain", "there is no such mode")

    def mode_sse(self, message, *_):
        self.serve(message, "sse")

    def mode_pretty(self, message, ident, good):
        self.whole(200, "application/json; charset=utf-8", json.dumps(json.loads(good), indent=2))

    def mode_crlf(self, message, ident, good):
        self.head(200, "text/event-stream")
        self.wfile.write(b"\xef\xbb\xbf: a comment\r\n\r\n")
        self.event(json.dumps(json.loads(good), indent=1), end="\r\n", event="message")

    def mode_wrong_type(self, *_):
        self.whole(200, "text/html", "<h1>welcome</h1>")

    def mode_no_type(self, *_):
        self.head(200, length=0)

    def mode_accepted(self, *_):
        self.head(202, length=0)

    def mode_unauthorized(self, *_):
        self.whole(401, "text/plain", "who are you?")

    def mode_oauth(self, *_):
        self.whole(401, "application/json", '{"error":"invalid_token"}',
                   WWW_Authenticate='Bearer resource_metadata="https://far.example/.well-known/x"')

    def mode_token(self, message, *_):
        if self.headers.get("Authorization") != "Bearer s3cret":
            return self.whole(401, "text/plain", "no")
        self.serve(message)

    def mode_forbidden(self, *_):
        self.whole(403, "text/plain", "no")

    def mode_not_found(self, *_):
        self.whole(404, "text/plain", "no")

    def mode_busy(self, *_):
        self.whole(429, "text/plain", "later")

    def mode_broken(self, *_):
        self.whole(500, "text/html", "<h1>oops</h1>")

    def mode_error(self, message, ident, good):
        self.whole(400, "application/json", json.dumps(
            {"jsonrpc": "2.0", "id": None, "error": {"code": -32099, "message": "not like that"}}))

    def mode_redirect(self, *_):
        self.head(307, length=0, Location="http://169.254.169.254/latest")

    def mode_garbage(self, *_):
        self.whole(200, "application/json", '{"jsonrpc": "2.0", "id":')

    def mode_no_message(self, *_):
        self.whole(200, "application/json", '[1, 2]')

    def mode_wrong_id(self, *_):
        self.whole(200, "application/json", '{"jsonrpc":"2.0","id":4711,"result":{}}')

    def mode_wrong_id_sse(self, *_):
        self.head(200, "text/event-stream")
        self.event({"jsonrpc": "2.0", "id": 4711, "result": {}})

    def mode_twice(self, message, ident, good):
        self.head(200, "text/event-stream")
        self.event(good)
        self.event(good)

    def mode_stays(self, message, ident, good):
        self.head(200, "text/event-stream")
        self.event(good)
        self.forever()

    def mode_huge(self, message, ident, good):
        self.head(200, "application/json", 1 << 30)
        self.forever(b" " * (1 << 20), 0)

    def mode_huge_refusal(self, *_):
        self.head(500, "text/plain")
        self.forever(b"x" * (1 << 16), 0)

    def mode_endless_event(self, *_):
        self.head(200, "text/event-stream")
        self.wfile.write(b"data: ")
        self.forever(b"x" * (1 << 20), 0)

    def mode_endless_data(self, *_):
        self.head(200, "text/event-stream")
        self.forever(b"data: 1234567\n" * (1 << 16), 0)

    def mode_endless_head(self, *_):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        self.forever(b"X-More: " + b"x" * 1000 + b"\r\n", 0)

    def mode_no_http(self, *_):
        self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        self.close_connection = True

    def mode_hang(self, *_):
        self.forever()

    def mode_hang_head(self, *_):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/js")
        self.wfile.flush()
        self.forever()

    def mode_hang_body(self, message, ident, good):
        self.head(200, "application/json", len(good))
        self.wfile.write(good[:10].encode())
        self.wfile.flush()
        self.forever()

    def mode_hang_stream(self, *_):
        self.head(200, "text/event-stream")
        self.wfile.write(b": soon\n\n")
        self.wfile.flush()
        self.forever()

    def mode_drip(self, *_):
        self.head(200, "text/event-stream")
        self.forever(b":\n", 0.02)

    def mode_closes(self, *_):
        self.close_connection = True

    def mode_closes_body(self, message, ident, good):
        self.head(200, "application/json", len(good))
        self.wfile.write(good[:10].encode())
        self.close_connection = True

    def mode_closes_stream(self, *_):
        self.head(200, "text/event-stream")
        self.wfile.write(b"data: {\n")

    def mode_resume(self, message, ident, good):
        streams["e1"] = json.loads(good)
        self.head(200, "text/event-stream")
        self.wfile.write(b"id: e1\nretry: 10\ndata: \n\n")

    mode_resume_never = mode_resume

    def mode_forgets(self, message, *_):
        name = self.headers.get("Mcp-Session-Id")
        with lock:
            if not forgotten:
                forgotten.add(name)
                sessions.discard(name)
        self.serve(message)

    def mode_forgets_always(self, *_):
        self.whole(404, "text/plain", "no such session")

    def mode_asks(self, message, ident, good):
        self.head(200, "text/event-stream")
        self.event({"jsonrpc": "2.0", "id": "q1", "method": "roots/list"})
        self.event(good)

    def mode_hang_delete(self, message, *_):
        self.serve(message)

    def mode_flood(self, message, ident, good):
        self.head(200, "text/event-stream")
        for i in range(20000):
            self.event({"jsonrpc": "2.0", "method": "notifications/message",
                        "params": {"level": "info", "data": f"{i} " + "x" * 200}})
        self.event(good)


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def decoded(value):
    if value and value.startswith("=?base64?") and value.endswith("?="):
        return base64.b64decode(value[9:-2]).decode()
    return value


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # the other side has left


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
