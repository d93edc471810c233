// A place of its own for one scene: settings, state and data of perch, agents of a few lines, and `perch serve`
// on a free port.

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const { PERCH, PERCH_SOURCE, PERCH_PAGE_PYTHON = "/usr" } = process.env;
export const source = PERCH_SOURCE;

export function write(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** Everything of it lies below root. */
export function makePlace(root) {
  const work = join(root, "work");
  const config = join(root, "config");
  const env = { ...process.env, WORK: work, XDG_CONFIG_HOME: config, XDG_STATE_HOME: join(root, "state"), XDG_DATA_HOME: join(root, "data") };
  mkdirSync(work, { recursive: true });
  const perch = (...words) => execFileSync(PERCH, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env, cwd: work }).trim();
  return {
    work, config, env, perch,

    /** An agent that is a script. */
    agent(name, script, more = "") {
      write(join(work, `${name}.agent`), script, 0o755);
      write(join(config, "perch/agents", `${name}.yaml`), `command: ${join(work, `${name}.agent`)}\nsandbox: false\n${more}`);
    },

    expose(text = 'agents = ["*"]\nplugins = ["*"]\ntools = ["*"]\n', serve = "") {
      write(join(config, "perch/config.toml"), `[serve]\n${serve}\n[expose.http]\n${text}`);
    },

    /** Python may lie anywhere: its tools may read it. */
    bindTool: (folder) => perch("tool", "add", folder, "--yes", "--read", PERCH_PAGE_PYTHON),

    token: (name, ...words) => perch("token", "create", name, ...words),

    server: (...words) => new Server({ env, cwd: work }, words),
  };
}

class Server {
  constructor(where, words) {
    this.where = where;
    this.words = words;
    this.port = 0;
    this.log = "";
  }

  async start() {
    const listen = `127.0.0.1:${this.port}`;
    this.child = spawn(PERCH, ["serve", "--listen", listen, "--drain", "1", ...this.words], { stdio: ["ignore", "ignore", "pipe"], ...this.where });
    this.log = "";
    this.ended = new Promise((done) => { this.child.on("close", done); });
    const found = await new Promise((done, failed) => {
      this.child.stderr.on("data", (data) => {
        this.log += data;
        const line = /perch serves at (http:\/\/[\w.:]+:(\d+))/.exec(this.log);
        if (line) done(line);
      });
      this.child.on("close", () => failed(new Error(`perch serve ended: ${this.log}`)));
    });
    this.url = found[1];
    this.port = Number(found[2]);
    return this;
  }

  async stop(signal = "SIGTERM") {
    this.child?.kill(signal);
    await this.ended;
  }
}
