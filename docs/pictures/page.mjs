// The pictures of the page: real agents, plugins and tools, shown by a real browser. Called by `make`, which
// gives it a place of its own; writes NAME.png, and page.json with the words that are seen in each.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, closeChromium } from "../../tests/page/browser.mjs";
import { makePlace, source, write } from "../../tests/page/place.mjs";

const out = process.argv[2];
const { agent, bindTool, expose, perch, server: makeServer, token, work } = makePlace(out);

/** What takes another time each time is not compared. */
const steady = (text) => text.replace(/\d+(\.\d+)? (ms|s)\b/g, "N $2").replace(/\d+\.\ds\b/g, "Ns").replace(/reach \w+/g, "reach R").replace(/\s+/g, " ").trim();

const wait = (page) => page.evaluate(() => new Promise((done) => { setTimeout(done, 400); }));

const PICTURES = {
  async "page-chat"(page) {
    await page.getByRole("radio", { name: "harbour" }).check();
    await page.getByLabel("Message", { exact: true }).fill("How full is the harbour today?");
    await page.keyboard.press("Enter");
    await page.locator(".row.reply[aria-busy=false]").waitFor();
    await page.locator(".session").waitFor();
  },
  async "page-plugin"(page) {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByRole("link", { name: "Plugins" }).click();
    await page.getByRole("link", { name: "deploy" }).click();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByLabel("Deploy target:").press("Enter");
    await page.getByText("Deploy to staging?").waitFor();
  },
  async "page-tool"(page) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("link", { name: "Tools" }).click();
    await page.getByRole("link", { name: "words.count" }).click();
    await page.getByLabel("text needed").fill("owl lark owl wren owl");
    await page.getByLabel("most").fill("2");
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByLabel("Result", { exact: true }).waitFor();
    await page.locator(".past .chip.done").first().waitFor();
    await page.evaluate(() => document.activeElement.blur());
  },
};

expose();
write(join(work, "reply.md"), readFileSync(join(source, "tests/page/reply.md"), "utf8"));
agent("harbour", `#!/bin/sh\ncat '${join(work, "reply.md")}'\n`, "description: Knows every berth, and the tides.\n");
agent("echo", "#!/bin/sh\necho \"$AGENT_MESSAGE\"\n", "description: Says what you say.\n");
perch("plugins", "install", join(source, "examples/plugins/deploy-python"), "--yes");
bindTool(join(source, "examples/tools/python"));
const secret = token("you");
const server = await makeServer().start();
const browser = await new Browser().open({ viewport: { width: 1280, height: 920 } });
try {
  const words = {};
  const page = await browser.enter(server, secret);
  for (const [name, play] of Object.entries(PICTURES)) {
    await play(page);
    await wait(page);
    await page.screenshot({ path: join(out, `${name}.png`) });
    words[name] = steady(await page.locator("main").innerText());
  }
  browser.check();
  writeFileSync(join(out, "page.json"), `${JSON.stringify(words, null, 2)}\n`);
} finally {
  await browser.close();
  await closeChromium();
  await server.stop("SIGKILL");
}
process.exit(0);
