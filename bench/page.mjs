// The page's figures, in a real browser: how soon it is painted, how a long history scrolls, what a stream costs.
// `./dev bench page`.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Browser, closeChromium } from "../tests/page/browser.mjs";
import { makePlace } from "../tests/page/place.mjs";

const { agent, expose, server: makeServer, token } = makePlace(process.argv[2]);

const PAINTS = 7;
const MESSAGES = 10000;
const STREAM_SECONDS = 10;

const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const tell = (what, value, aim) => console.log(`${what.padEnd(58)} ${value.padStart(12)}   ${aim}`);

/** CPU time of each of the browser's processes: what descends from this one, but for perch. */
function cpuOfBrowser() {
  const found = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [head, rest] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
      const fields = rest.split(" ");
      found.set(Number(pid), { isChromium: head.includes("(chrom"), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {
      // it has ended
    }
  }
  const isOurs = (one) => one && (one.parent === process.pid || isOurs(found.get(one.parent)));
  return new Map([...found].filter(([, one]) => one.isChromium && isOurs(one)).map(([pid, one]) => [pid, one.ticks]));
}

/** Seconds since then: one that has ended meanwhile counts no more. */
const cpuSince = (before) => [...cpuOfBrowser()].reduce((sum, [pid, ticks]) => sum + ticks - (before.get(pid) || 0), 0) / 100;

async function paint(server, browser) {
  const times = [];
  for (let i = 0; i < PAINTS; i += 1) {
    const page = await browser.page();
    await page.goto(server.url);
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
    await page.close();
  }
  tell("first contentful paint, signed in", `${middle(times).toFixed(0)} ms`, "under 200 ms");
}

/** Frames while a list of 10,000 messages is scrolled from its end to its beginning. */
async function scroll(server, browser) {
  const page = await browser.page();
  await page.goto(server.url);
  await page.getByRole("navigation", { name: "Views" }).waitFor();
  const found = await page.evaluate(async (count) => {
    const { VirtualList } = await import("/page/list.js");
    const { ReplyView, userRow } = await import("/page/reply.js");
    const { hear, newState } = await import("/page/turn.js");
    const reply = (i) => {
      const state = newState("turn");
      hear(state, { event: "reply", text: `Message **${i}** with \`code\`, a list:\n\n- one\n- two\n\n${i % 5 ? "" : "```js\nconst x = 1;\n```\n"}` });
      hear(state, { event: "end", success: true, duration_ms: 10 });
      return new ReplyView(state, "bench", { retry() {} }).node;
    };
    const items = Array.from({ length: count }, (_, i) => ({ make: () => (i % 2 ? reply(i) : userRow(`What about ${i}?`, [], { edit() {} })) }));
    const list = new VirtualList("Bench");
    const place = document.querySelector(".talk");
    place.replaceChildren(list.node);
    list.set(items);
    await new Promise((done) => { setTimeout(done, 500); });
    const frames = [];
    let last = performance.now();
    let most = 0;
    for (let i = 0; i < 400; i += 1) {
      list.node.scrollTop -= 120 + (i % 7) * 60;
      await new Promise((done) => { requestAnimationFrame(done); });
      const now = performance.now();
      frames.push(now - last);
      last = now;
      most = Math.max(most, list.body.childElementCount);
    }
    return { frames, most };
  }, MESSAGES);
  const { frames } = found;
  const seconds = frames.reduce((sum, ms) => sum + ms, 0) / 1000;
  tell(`scrolling ${MESSAGES.toLocaleString("en")} messages, mean`, `${(frames.length / seconds).toFixed(0)} fps`, "50 fps at least");
  tell("  the slowest twentieth of its frames", `${(1000 / [...frames].sort((a, b) => b - a)[Math.floor(frames.length / 20)]).toFixed(0)} fps`, "");
  tell("  rows on the page at most", String(found.most), "");
  await page.close();
}

async function stream(server, browser) {
  const page = await browser.page();
  await page.goto(server.url);
  await page.getByLabel("Message", { exact: true }).fill("stream");
  await page.keyboard.press("Enter");
  await page.locator(".prose").waitFor();
  const session = await browser.context.newCDPSession(page);
  await session.send("Performance.enable");
  const metric = async (name) => (await session.send("Performance.getMetrics")).metrics.find((one) => one.name === name).value;
  const [task, cpu, since] = [await metric("TaskDuration"), cpuOfBrowser(), performance.now()];
  await new Promise((done) => { setTimeout(done, STREAM_SECONDS * 600); });
  const seconds = (performance.now() - since) / 1000;
  tell("100 partials a second, the page's thread", `${((await metric("TaskDuration") - task) / seconds * 100).toFixed(1)} %`, "of one core");
  tell("100 partials a second, every process of chromium", `${(cpuSince(cpu) / seconds * 100).toFixed(1)} %`, "15 % of one core at most");
  await page.close();
}

expose();
agent("bench", `#!/usr/bin/env python3
import json, time
begun = time.monotonic()
words = ["word%d " % i for i in range(40)]
for i in range(${STREAM_SECONDS * 100}):
    text = words[i % 40] + ("\\n\\n" if i % 60 == 59 else "")
    print("AGENT_PARTIAL:" + json.dumps(text), flush=True)
    time.sleep(max(0, begun + (i + 1) / 100 - time.monotonic()))
`);
const secret = token("bench");
const server = await makeServer().start();
const browser = await new Browser().open();
try {
  await (await browser.enter(server, secret)).close();
  await paint(server, browser);
  await scroll(server, browser);
  await stream(server, browser);
  browser.check();
} finally {
  await browser.close();
  await closeChromium();
  await server.stop("SIGKILL");
}
process.exit(0);
