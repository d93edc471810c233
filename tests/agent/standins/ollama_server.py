"""Stands in for Ollama's API: POST /api/chat, answers as its documentation shows.
usage: ollama_server.py PORT-FILE REQUESTS-FILE"""
import http.server
import json
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"]))
        with open(sys.argv[2], "ab") as file:
            file.write(text + b"\n")
        request = json.loads(text)
        if request["model"] == "none":
            self.answer(404, [{"error": "model 'none' not found"}])
            return
        words = ["You wrote: ", request["messages"][-1]["content"]]
        head = {"model": request["model"], "created_at": "2023-08-04T08:52:19.385406455-07:00"}
        thoughts = [head | {"message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False}]
        pieces = thoughts + [head | {"message": {"role": "assistant", "content": word}, "done": False} for word in words]
        last = {"message": {"role": "assistant", "content": ""}, "done": True, "prompt_eval_count": 26, "eval_count": 2}
        self.answer(200, pieces + [head | last])

    def answer(self, status, lines):
        self.send_response(status)
        self.send_header("content-type", "application/x-ndjson")
        self.end_headers()
        for line in lines:
            self.wfile.write(json.dumps(line).encode() + b"\n")

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
import os
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
