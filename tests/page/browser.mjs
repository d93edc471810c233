// A browser and a server for tests of the page: Debian's chromium, driven by playwright-core, and
// `perch serve` on a free port with agents of a few lines. Whatever the browser complains about
// (console errors, violations of the policy, uncaught exceptions) fails the scene that caused it.

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { PERCH, WORK, PERCH_PAGE_PACKAGES: packages, PERCH_SOURCE } = process.env;
export const source = PERCH_SOURCE;
export const work = WORK;
const require = createRequire(join(packages, "node_modules/"));
export const { chromium } = require("playwright-core");
export const axePath = require.resolve("axe-core");
export const PATIENCE = Number(process.env.PERCH_PAGE_PATIENCE || 90000);

const config = join(process.env.XDG_CONFIG_HOME, "perch");

export function write(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** An agent that is a script. */
export function agent(name, script, more = "") {
  write(join(WORK, `${name}.agent`), script, 0o755);
  write(join(config, "agents", `${name}.yaml`), `command: ${join(WORK, `${name}.agent`)}\nsandbox: false\n${more}`);
}

export function expose(text = 'agents = ["*"]\nplugins = ["*"]\ntools = ["*"]\n', serve = "") {
  write(join(config, "config.toml"), `[serve]\n${serve}\n[expose.http]\n${text}`);
}

export function perch(...words) {
  return execFileSync(PERCH, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Python may lie anywhere: its tools may read it. */
export const bindTool = (folder) => perch("tool", "add", folder, "--yes", "--read", process.env.PERCH_PAGE_PYTHON || "/usr");

export const token = (name, ...words) => perch("token", "create", name, ...words);

/* ---- the server ----------------------------------------------------------------------------- */

export class Server {
  constructor(port = 0, ...words) {
    this.port = port;
    this.words = words;
  }

  async start() {
    const listen = `127.0.0.1:${this.port}`;
    this.child = spawn(PERCH, ["serve", "--listen", listen, "--drain", "1", ...this.words], { stdio: ["ignore", "ignore", "pipe"], cwd: WORK });
    this.log = "";
    this.ended = new Promise((done) => this.child.on("close", done));
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
    this.child.kill(signal);
    await this.ended;
  }
}

/* ---- the browser ------------------------------------------------------------------------------ */

const FLAGS = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];

export class Browser {
  async open(options = {}) {
    this.home = mkdtempSync(join(WORK, "browser-"));
    this.complaints = [];
    this.expected = [];
    const args = process.getuid() === 0 ? [...FLAGS, "--no-sandbox"] : FLAGS;
    this.context = await chromium.launchPersistentContext(this.home, { executablePath: "/usr/bin/chromium", headless: true, args,
      viewport: { width: 1280, height: 800 }, locale: "en-GB", timezoneId: "UTC", acceptDownloads: false, ...options });
    this.context.setDefaultTimeout(PATIENCE);
    await this.context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    return this;
  }

  async page() {
    const page = await this.context.newPage();
    page.on("console", (message) => message.type() === "error" && this.complaints.push(message.text()));
    page.on("pageerror", (error) => this.complaints.push(String(error.stack || error)));
    page.on("dialog", (dialog) => {
      this.complaints.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    return page;
  }

  /** Opens the page and signs in. */
  async enter(server, secret) {
    const page = await this.page();
    await page.goto(server.url);
    await page.getByLabel("Token").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    return page;
  }

  /** Fails where the browser complained, but for what was expected. A server that is away and a token that is asked for
   * are told by the browser itself. */
  check() {
    const left = this.complaints.filter((text) => !this.expected.some((pattern) => pattern.test(text)));
    if (left.length) throw new Error(`the browser complained:\n${left.join("\n")}`);
  }

  async close() {
    await this.context?.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What every page that is not signed in has: the 401 of its first question. */
export const UNSIGNED = /401 \(Unauthorized\)/;
export const AWAY = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_CLOSED/;

export function assert(condition, words) {
  if (!condition) throw new Error(`not so: ${words}`);
}

/** A server and a browser for a scene. */
export async function stage(scene, ...words) {
  const server = new Server(0, ...words);
  const browser = new Browser();
  try {
    await server.start();
    await browser.open();
    await scene(server, browser);
    browser.check();
  } catch (error) {
    console.error(server.log);
    throw error;
  } finally {
    await browser.close();
    await server.stop("SIGKILL");
  }
}

/** Runs the scene that the command line names. */
export async function play(scenes) {
  const name = process.argv[2];
  try {
    await scenes[name]();
    process.exit(0);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
