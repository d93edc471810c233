#!/usr/bin/env python3
"""A registry of npm and one of PyPI on loopback, with one MCP server in each: registry.py READY. The
port is written to READY. The packages have an install script, which must not run."""
import base64
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import zipfile

SERVER_JS = """#!/usr/bin/env node
const lines = require("readline").createInterface({ input: process.stdin });
const tools = [{ name: "where", description: "", inputSchema: { type: "object" } },
               { name: "write", description: "", inputSchema: { type: "object" } }];
lines.on("line", line => {
    const { id, method, params } = JSON.parse(line);
    let result = { tools };
    if (id === undefined) return;
    if (method === "initialize")
        result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "js", version: "1" } };
    if (method === "tools/call") {
        let text = __dirname + " " + process.argv.slice(2).join(" ");
        if (params.name === "write")
            try { require("fs").writeFileSync(__dirname + "/x", "x"); text = "written"; }
            catch (error) { text = error.code; }
        result = { content: [{ type: "text", text }] };
    }
    console.log(JSON.stringify(result.tools || result.content || result.serverInfo && method === "initialize"
        ? { jsonrpc: "2.0", id, result } : { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
});
"""
SERVER_PY = '''import json, os, sys
def main():
    for line in sys.stdin:
        request = json.loads(line)
        method = request.get("method")
        if "id" not in request:
            continue
        result = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
        if method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "py", "version": "1"}}
        if method == "tools/call":
            result = {"content": [{"type": "text", "text": os.path.dirname(__file__)}]}
        if method == "server/discover":
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
'''
PACKAGE = {"name": "@t/demo", "version": "1.2.3", "bin": {"demo": "server.js", "other": "other.js"},
           "scripts": {"postinstall": "touch postinstall-ran"}}


def tarball():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in (("package.json", json.dumps(PACKAGE)), ("server.js", SERVER_JS), ("other.js", "")):
            info = tarfile.TarInfo("package/" + name)
            info.size = len(text)
            info.mode = 0o755
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def wheel():
    out = io.BytesIO()
    folder = "t_demo-2.0.dist-info"
    files = {"t_demo.py": SERVER_PY, f"{folder}/METADATA": "Metadata-Version: 2.1\nName: t-demo\nVersion: 2.0\n",
             f"{folder}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
             f"{folder}/entry_points.txt": "[console_scripts]\nt-demo = t_demo:main\n"}
    files[f"{folder}/RECORD"] = "".join(f"{name},,\n" for name in files) + f"{folder}/RECORD,,\n"
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


TAR, WHEEL = tarball(), wheel()


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        kind, body = "application/json", None
        if self.path in ("/@t%2fdemo", "/@t/demo"):
            dist = {"tarball": f"{base}/demo.tgz", "shasum": hashlib.sha1(TAR).hexdigest(),
                    "integrity": "sha512-" + base64.b64encode(hashlib.sha512(TAR).digest()).decode()}
            body = json.dumps({"name": "@t/demo", "dist-tags": {"latest": "1.2.3"},
                               "versions": {"1.2.3": {**PACKAGE, "hasInstallScript": True, "dist": dist}}}).encode()
        elif self.path == "/demo.tgz":
            kind, body = "application/octet-stream", TAR
        elif self.path == "/simple/t-demo/":
            digest = hashlib.sha256(WHEEL).hexdigest()
            kind = "text/html"
            body = f'<a href="{base}/t_demo-2.0-py3-none-any.whl#sha256={digest}">t_demo-2.0-py3-none-any.whl</a>'.encode()
        elif self.path.startswith("/t_demo-2.0"):
            kind, body = "application/octet-stream", WHEEL
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
