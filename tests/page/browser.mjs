// Debian's chromium, driven by playwright-core: one for all scenes, each with cookies, storage and workers of its
// own. Whatever it complains about (console errors, violations of the policy, uncaught exceptions) fails the scene
// that caused it.

import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.PERCH_PAGE_PACKAGES, "node_modules/"));
const { chromium } = require("playwright-core");
export const axePath = require.resolve("axe-core");

const PATIENCE_MS = Number(process.env.PERCH_PAGE_PATIENCE || 90000);
/** So many times slower than this machine: its scripts, and with them its answers, which come in any order then. */
const SLOW = Number(process.env.PERCH_PAGE_SLOW || 0);
const DELAY_MS = 40;

const FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];

let program = null;

/** The one chromium, which ends with this process. */
function launch() {
  program ??= chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: process.getuid() === 0 ? [...FLAGS, "--no-sandbox"] : FLAGS });
  return program;
}

export async function closeChromium() {
  await (await program)?.close();
}

export class Browser {
  async open(options = {}) {
    this.complaints = [];
    this.expected = [];
    this.context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", timezoneId: "UTC", acceptDownloads: false, ...options });
    this.context.setDefaultTimeout(PATIENCE_MS);
    await this.context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    if (SLOW) await this.context.route("**/api/**", async (route) => {
      await new Promise((done) => { setTimeout(done, Math.random() * DELAY_MS * SLOW); });
      await route.continue().catch(() => {}); // its page may be gone
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
    if (SLOW) await (await this.context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: SLOW });
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

  /** What its pages show, for the report of a failure. */
  async seen() {
    const words = [];
    for (const page of this.context?.pages() || [])
      words.push(page.url(), await page.innerText("body", { timeout: 5000 }).catch((error) => String(error)));
    return [...words, ...this.complaints].join("\n");
  }

  async close() {
    await this.context?.close();
  }
}

/** What every page that is not signed in has: the 401 of its first question. */
export const UNSIGNED = /401 \(Unauthorized\)/;
export const AWAY = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_CLOSED/;
