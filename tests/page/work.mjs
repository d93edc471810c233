// Scenes of the page: plugins, tools, what runs, who may; and how it looks and is used.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { axePath, Browser } from "./browser.mjs";
import { source, write } from "./place.mjs";
import { assert, play } from "./stage.mjs";

const pictures = process.env.PERCH_PAGE_PICTURES;
const view = (page) => page.locator("main > :not([hidden])");

/** A plugin that asks everything. */
const asker = `#!/usr/bin/env python3
import json, os, sys, time
def send(**m): print(json.dumps(m), flush=True)
def recv():
    while True:
        m = json.loads(sys.stdin.readline())
        if m["type"] in ("init", "response", "cancel"): return m
init = recv()
def ask(**m):
    send(id="1", **m)
    if m["type"] == "prompt":
        while not os.path.exists("written"): time.sleep(0.05)
        send(type="log", level="info", message="take your time")
    return recv()["value"]
send(type="log", level="warn", message="mind the gap")
send(type="output", text="\\x1b[32mgreen\\x1b[0m words of %s\\n" % ",".join(init["args"]))
colour = ask(type="select", message="Which colour?", options=["colour %d" % i for i in range(30)])
some = ask(type="multi_select", message="Which fruits?", options=["apple", "pear", "plum"], defaults=[1])
number = ask(type="prompt", message="How many?", validate="integer")
sure = ask(type="confirm", message="Sure?", default=True)
for i in range(4): send(type="progress", message="Counting", current=i + 1, total=4)
send(type="progress", done=True)
send(type="output", text="chose %s, %s, %s, %s\\n" % (colour, some, number, sure))
if "hang" in init["args"]: recv()
`;

function install({ perch, work }) {
  write(join(work, "asker/plugin.toml"), `[plugin]\nname = "asker"\nversion = "0.1.0"\ndescription = "Asks"\nprotocol = "fledge-v1"\n
[[commands]]\nname = "survey"\nbinary = "bin/ask"\ndescription = "Asks everything"\nargs = [{ name = "topic", description = "What it is about", required = true }, "extra"]\n`);
  write(join(work, "asker/bin/ask"), asker, 0o755);
  perch("plugins", "install", join(work, "asker"), "--yes");
  perch("plugins", "install", join(source, "examples/plugins/deploy-python"), "--yes");
}

/** A tool whose input is of every kind, and that gives it back. */
const forms = { plugin_id: "t.forms", display_name: "Forms", description: "Forms", plugin_version: "1.0.0", protocol_version: "rterm.plugin.v1", capabilities: ["tool.execute"],
  process: { command: "python3", args: ["forms"] },
  tools: [{ name: "forms.give", description: "Gives back what it gets", input_schema: { type: "object", required: ["who", "size"], properties: {
    who: { type: "object", required: ["mail"], properties: { mail: { type: "string" }, age: { type: "integer", minimum: 1 } } },
    size: { enum: ["small", "large"] }, tags: { type: "array", items: { type: "string", minLength: 2 } }, loud: { type: "boolean" }, day: { type: "string" } } } }] };
const giver = `#!/usr/bin/env python3
import json, sys
sys.stdin.readline()
print(json.dumps({"type": "handshake", "manifest": {"plugin_id": "t.forms", "plugin_version": "1.0.0", "protocol_version": "rterm.plugin.v1",
    "exposed_tools": ["forms.give"], "capabilities": ["tool.execute"]}}), flush=True)
line = sys.stdin.readline()
if line:
    request = json.loads(line)
    print(json.dumps({"type": "response", "request_id": request["request_id"], "status": "ok", "output": request["input"]}), flush=True)
`;

/** The jobs that a page asks for from now on. */
function started(page) {
  const asked = [];
  page.on("request", (request) => request.method() === "POST" && /\/api\/(runs|calls)$/.test(request.url()) && asked.push(request.url()));
  return asked;
}

const scenes = {
  async plugins({ expose, perch, stage, token, work }) {
    expose();
    install({ perch, work });
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      await page.getByRole("link", { name: "Plugins" }).click();
      await page.getByRole("link", { name: "survey" }).click();
      await page.getByLabel("topic needed").fill("birds");
      await page.getByLabel("More arguments").fill(`"two words" three`);
      await page.getByRole("button", { name: "Run" }).click();
      await page.locator(".ansi-fg2", { hasText: "green" }).waitFor();
      await page.locator(".output", { hasText: "birds,two words,three" }).waitFor();
      await page.locator(".log", { hasText: "mind the gap" }).waitFor();
      await page.getByLabel("Filter the options").fill("27");
      await page.getByRole("radio", { name: "colour 27" }).check();
      await page.getByRole("button", { name: "Choose" }).click();
      assert(await page.getByRole("checkbox", { name: "pear" }).isChecked(), "the default is chosen");
      await page.getByRole("checkbox", { name: "plum" }).check();
      await page.getByRole("button", { name: "Choose these 2" }).click();
      await page.getByLabel("How many?").fill("many");
      write(join(work, "written"), "");
      await page.locator(".log", { hasText: "take your time" }).waitFor();
      assert(await page.getByLabel("How many?").inputValue() === "many", "what is being filled in stays");
      await page.getByRole("button", { name: "Answer" }).click();
      await page.getByText("Please enter a whole number").waitFor();
      await page.getByLabel("How many?").fill("12");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Yes" }).click();
      await page.locator(".progress", { hasText: "4 of 4" }).waitFor();
      await page.locator(".output", { hasText: "chose" }).waitFor();
      assert(/chose (27|colour 27), .*12.*[Tt]rue/.test(await page.locator(".output").last().innerText()), await page.locator(".output").last().innerText());
      await page.getByText("Done in").waitFor();
      await page.locator(".past .chip.done").waitFor();
      await page.reload();
      await page.locator(".past a").first().click();
      await page.locator(".answered", { hasText: "Sure?" }).waitFor();
      await page.getByLabel("topic needed").fill("hang");
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByRole("radio", { name: "colour 1", exact: true }).waitFor();
      await page.getByRole("button", { name: "Stop the run" }).click();
      await page.locator(".past .chip.cancelled, .past .chip.failed").first().waitFor();
      await page.getByRole("link", { name: "deploy" }).click();
      const runs = started(page);
      await page.getByRole("button", { name: "Run" }).dblclick({ delay: 50 });
      await page.getByLabel("Deploy target:").press("Enter");
      await page.getByRole("button", { name: "Yes" }).click();
      await page.locator(".output", { hasText: "Deployed to staging" }).waitFor();
      assert(runs.length === 1, `a double click runs it once: ${runs}`);
    });
  },

  async tools({ bindTool, config, expose, stage, token, work }) {
    expose();
    bindTool(join(source, "examples/tools/python"));
    write(join(work, "forms/rterm-plugin.json"), JSON.stringify(forms));
    write(join(work, "forms/forms"), giver, 0o755);
    bindTool(join(work, "forms"));
    const secret = token("laptop");
    const admin = token("boss", "--role", "admin");
    const bound = join(config, "perch/tools/example.words.toml");
    await stage(async (server, browser) => {
      await browser.context.route("**/api/catalog", async (route) => { // formats: of MCP servers, a binding has none
        const answer = await route.fetch();
        const catalog = await answer.json();
        const { properties } = catalog.tools.find((tool) => tool.name.includes("forms")).input_schema;
        properties.who.properties.mail.format = "email";
        properties.day.format = "date";
        await route.fulfill({ response: answer, json: catalog });
      });
      const page = await browser.enter(server, secret);
      await page.getByRole("link", { name: "Tools" }).click();
      await page.getByRole("link", { name: "words.count" }).click();
      await page.getByRole("button", { name: "Call" }).click();
      await page.getByText("text is needed").waitFor();
      await page.getByLabel("text needed").fill("owl lark owl");
      await page.getByLabel("most").fill("0");
      await page.getByRole("button", { name: "Call" }).click();
      await page.getByText("most must be 1 at least").waitFor();
      await page.getByLabel("most").fill("5");
      assert(JSON.parse(await page.getByLabel("As JSON").inputValue()).most === 5, "the JSON follows the form");
      await page.getByRole("button", { name: "Call" }).click();
      await page.getByLabel("Result", { exact: true }).getByText('"owl"').waitFor();
      await page.getByText("started for this call").waitFor();
      await page.getByLabel("As JSON").fill("{no");
      await page.getByText("This is no JSON").waitFor();
      await page.getByLabel("As JSON").fill('{"text":"wren"}');
      assert(await page.getByLabel("text needed").inputValue() === "wren", "the form follows the JSON");
      const calls = started(page);
      await page.getByRole("button", { name: "Call" }).dblclick({ delay: 50 });
      await page.getByLabel("Result", { exact: true }).getByText('"wren"').waitFor();
      assert(calls.length === 1, `a double click calls it once: ${calls}`);
      await page.getByRole("link", { name: "forms.give" }).click();
      await page.getByLabel("mail needed").fill("nobody");
      await page.getByLabel("size needed").selectOption("large");
      await page.getByRole("button", { name: "Add to tags" }).click();
      await page.getByLabel("tags 1").fill("blue");
      await page.getByLabel("loud").check();
      await page.getByLabel("day").fill("2026-03-01");
      await page.getByRole("button", { name: "Call" }).click();
      await page.getByText("mail must be an e-mail address").waitFor();
      await page.getByLabel("mail needed").fill("owl@example.org");
      await page.getByRole("button", { name: "Call" }).click();
      await page.getByLabel("Result", { exact: true }).getByText('"owl@example.org"').waitFor();
      const given = JSON.parse(await page.getByLabel("Result", { exact: true }).innerText());
      assert(JSON.stringify(given) === '{"who":{"mail":"owl@example.org"},"size":"large","tags":["blue"],"loud":true,"day":"2026-03-01"}', JSON.stringify(given));
      await page.getByRole("link", { name: "words.count" }).click();
      writeFileSync(bound, readFileSync(bound, "utf8").replace(/^name = "words.count"$/m, "$&\nask = true"));
      await page.waitForFunction(async () => (await (await fetch("/api/catalog")).json()).tools.some((tool) => tool.asks), null, { polling: 300 });
      await page.reload();
      await page.getByText("must be approved").first().waitFor();
      await page.getByLabel("text needed").fill("heron");
      await page.getByRole("button", { name: "Call" }).click();
      await page.getByText("An admin has to approve this").waitFor();
      const other = await new Browser().open();
      try {
        const boss = await other.enter(server, admin);
        await boss.evaluate((name) => { location.hash = `#tools/${encodeURIComponent(name)}`; }, await page.evaluate(async () => (await (await fetch("/api/catalog")).json()).tools.find((tool) => tool.asks).name));
        await boss.getByLabel("text needed").fill("own");
        await boss.getByRole("button", { name: "Call" }).click();
        await boss.getByText("somebody else has to approve it").waitFor();
        assert(!(await boss.getByRole("button", { name: "Approve" }).count()), "nobody approves its own call");
        await boss.getByRole("button", { name: "Stop the run" }).click();
        await boss.locator(".past .chip.cancelled").waitFor();
        await boss.getByRole("link", { name: "Now", exact: true }).click();
        await boss.getByRole("region", { name: "Running and waiting" }).getByRole("link", { name: /words/ }).click();
        await boss.getByRole("button", { name: "Approve" }).click();
        await page.getByLabel("Result", { exact: true }).getByText('"heron"').waitFor();
        other.check();
      } finally {
        await other.close();
      }
    });
  },

  async now({ agent, bindTool, config, expose, perch, stage, token, work }) {
    expose();
    bindTool(join(source, "examples/tools/python"));
    const bound = join(config, "perch/tools/example.words.toml");
    writeFileSync(bound, `spares = 1\n${readFileSync(bound, "utf8")}`);
    agent("slow", `#!/bin/sh\necho 'AGENT_PARTIAL:"begun"'\nwhile [ ! -e "${work}/go" ]; do sleep 0.05; done\n`);
    agent("quick", "#!/bin/sh\necho quickly said\n");
    install({ perch, work });
    const secret = token("laptop");
    const admin = token("boss", "--role", "admin");
    await stage(async (server, browser) => {
      const post = (path, body) => fetch(`${server.url}/api/${path}`, { method: "POST", headers: { Authorization: `Bearer ${secret}` }, body: JSON.stringify(body) });
      const ask = (body) => post("turns", body);
      const page = await browser.enter(server, admin);
      await page.getByRole("link", { name: "Now" }).click();
      await page.getByText("Nothing runs at this moment").waitFor();
      await ask({ agent: "quick", message: "now", session: "a" });
      await page.getByRole("region", { name: "Ended jobs" }).getByText("done").waitFor();
      await ask({ agent: "slow", message: "one", session: "b" });
      await ask({ agent: "slow", message: "two", session: "b" });
      await page.getByText("1 running, 1 waiting").waitFor();
      const live = page.getByRole("region", { name: "Running and waiting" });
      await live.getByText("laptop").first().waitFor();
      await live.getByText("waiting, 1.").waitFor();
      await live.getByRole("row", { name: /running/ }).getByText("none", { exact: true }).waitFor();
      await live.getByRole("button", { name: "Cancel slow" }).last().click();
      await page.getByRole("region", { name: "Ended jobs" }).getByText("cancelled").waitFor();
      await live.getByRole("link", { name: "slow" }).click();
      await page.locator(".moment", { hasText: "begun" }).waitFor();
      writeFileSync(join(work, "go"), "");
      await page.locator(".moment", { hasText: "It ended well" }).waitFor();
      await page.getByRole("link", { name: "All jobs" }).click();
      await post("runs", { command: "survey", args: ["x"] });
      const asks = live.getByRole("row", { name: /survey/ });
      await asks.getByText("asks", { exact: true }).waitFor();
      assert(/landlock|seccomp|namespaces|pidns|mount/i.test(await asks.innerText()), `its sandbox: ${await asks.innerText()}`);
      await live.getByRole("button", { name: "Cancel survey" }).click();
      await page.getByRole("region", { name: "Ended jobs" }).getByRole("row", { name: /survey/ }).waitFor();
      assert(!(await page.getByRole("region", { name: "Spares" }).count()), "no spare is there before the first call");
      await post("calls", { tool: "example.words/words.count", input: { text: "owl" } });
      const spare = page.getByRole("region", { name: "Spares" }).getByRole("row", { name: /example.words tool ready/ });
      await spare.waitFor();
      assert(/landlock|seccomp|namespaces|pidns|mount/i.test(await spare.innerText()), `its sandbox: ${await spare.innerText()}`);
      await page.locator(".plot-line").first().waitFor({ state: "attached" });
      await page.waitForFunction(async () => (await (await fetch("/api/metrics/history")).json()).samples.some((sample) => sample.slowest_us > 0));
      const plot = page.getByRole("slider", { name: "Memory" });
      await page.waitForFunction(() => /MiB/.test(document.querySelector('[aria-label="Memory"]').getAttribute("aria-valuetext")), null, { polling: 200 });
      await plot.focus();
      await page.keyboard.press("Home");
    });
  },

  async access({ agent, expose, perch, stage, token }) {
    expose();
    agent("quick", "#!/bin/sh\necho quickly said\n");
    const secret = token("laptop", "--allow", "agent:quick");
    const admin = token("boss", "--role", "admin");
    await stage(async (server, browser) => {
      const user = await browser.enter(server, secret);
      await user.getByRole("link", { name: "Access" }).click();
      await user.getByText("Sees its own jobs").waitFor();
      assert(!(await user.getByRole("heading", { name: "Tokens" }).count()), "no tokens for users");
      await user.getByRole("button", { name: "Sign out" }).click();
      await user.close();
      const page = await browser.enter(server, admin);
      await page.getByLabel("Message", { exact: true }).fill("hello");
      await page.keyboard.press("Enter");
      await page.locator(".prose", { hasText: "quickly said" }).waitFor();
      await page.getByRole("link", { name: "Access" }).click();
      await page.getByRole("region", { name: "Tokens" }).getByText("agent:quick").waitFor();
      await page.getByRole("region", { name: "Audit log" }).getByText("turn").first().waitFor();
      browser.expected.push(/401/);
      perch("token", "revoke", "boss");
      await page.getByText("You are signed out").or(page.getByText("Please sign in again")).waitFor();
    });
  },

  /** The link of a server on a terminal. */
  async once({ env, expose, work }) {
    expose();
    const terminal = spawn("script", ["-qfec", `'${process.env.PERCH}' serve --listen 127.0.0.1:0`, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"], env, cwd: work });
    const gone = new Promise((done) => { terminal.on("close", done); });
    const browser = new Browser();
    try {
      let said = "";
      const link = await new Promise((done) => {
        terminal.stdout.on("data", (data) => {
          said += data;
          const found = /http:\/\/\S+#once=[\w-]+/.exec(said);
          if (found) done(found[0]);
        });
      });
      await browser.open();
      const page = await browser.page();
      await page.goto(link);
      await page.getByRole("navigation", { name: "Views" }).waitFor();
      assert(!page.url().includes("once"), "the link is gone from the address");
      await page.getByRole("link", { name: "Access" }).click();
      await page.locator(".card-title", { hasText: "local" }).getByText("admin").waitFor();
      await page.getByText("There is none yet").waitFor();
      assert(!(await page.getByRole("region", { name: "Tokens" }).count()), "the user of the link is no token");
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Token").waitFor();
      browser.check();
      browser.expected.push(/401/);
      await page.goto("about:blank");
      await page.goto(link);
      await page.getByText("That link has been used").waitFor();
    } finally {
      await browser.close();
      terminal.stdin.write("\u0003");
      await gone;
    }
  },

  /** 360 and 2560 px, dark and light; what is too wide, and what axe finds. */
  async looks({ agent, bindTool, expose, perch, stage, token, work }) {
    expose();
    install({ perch, work });
    bindTool(join(source, "examples/tools/python"));
    write(join(work, "reply.md"), readFileSync(join(source, "tests/page/reply.md"), "utf8"));
    agent("harbour", `#!/bin/sh\ncat ${join(work, "reply.md")}\n`, "description: Knows every berth, and the tides.\n");
    const admin = token("boss", "--role", "admin");
    mkdirSync(pictures, { recursive: true });
    await stage(async (server, browser) => {
      const page = await browser.enter(server, admin);
      await page.getByLabel("Message", { exact: true }).fill("How full is the harbour today?");
      await page.keyboard.press("Enter");
      await page.locator(".row.reply[aria-busy=false]").waitFor();
      const chat = new URL(page.url()).hash;
      await page.evaluate(readFileSync(axePath, "utf8").replace(/^/, "var module;"));
      const tool = await page.evaluate(async () => (await (await fetch("/api/catalog")).json()).tools[0].name);
      for (const [name, hash] of [["welcome", "#chat"], ["chat", chat], ["plugins", "#plugins/survey"], ["tools", `#tools/${encodeURIComponent(tool)}`], ["now", "#now"], ["access", "#access"]]) {
        await page.evaluate((to) => { location.hash = to; }, hash);
        for (const [width, scheme] of [[1280, "light"], [1280, "dark"], [2560, "light"], [360, "dark"]]) {
          await page.emulateMedia({ colorScheme: scheme });
          await page.setViewportSize({ width, height: 800 });
          await page.evaluate(() => new Promise((done) => { setTimeout(done, 120); }));
          const wide = await page.evaluate(() => Math.max(...[document.documentElement, ...document.querySelectorAll("main, main > *, .panel, .list, .sessions")]
            .map((node) => node.scrollWidth - node.clientWidth)));
          assert(wide <= 0, `${name} at ${width} is ${wide} px too wide`);
          if (width !== 2560) await page.screenshot({ path: join(pictures, `${name}-${width}-${scheme}.png`), animations: "disabled" });
          if (width === 2560 || (width === 1280 && scheme === "dark")) continue;
          const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
          const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
          assert(!bad.length, `${name} at ${width} ${scheme}: ${bad.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3)}`).join("\n")}`);
        }
      }
      await view(page).waitFor();
    });
  },

  /** Everything by keyboard. */
  async keys({ agent, expose, stage, token }) {
    expose();
    agent("quick", "#!/bin/sh\necho quickly said\n");
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") || document.activeElement.textContent);
      await page.keyboard.type("by hand");
      await page.keyboard.press("Enter");
      await page.locator(".row.reply[aria-busy=false]").waitFor();
      await page.locator(".session").waitFor();
      const message = page.getByLabel("Message", { exact: true });
      await message.focus();
      // The conversation is read anew when a turn ends: a key counts when that is done.
      for (let i = 0; i < 600 && (await message.inputValue()) !== "by hand"; i += 1) {
        await page.keyboard.press("ArrowUp");
        await page.waitForTimeout(100);
      }
      assert((await message.inputValue()) === "by hand", "the last message is there to be changed");
      await page.keyboard.press("Escape");
      const seen = new Set();
      for (let i = 0; i < 60; i += 1) {
        await page.keyboard.press("Tab");
        seen.add(await focused());
        const outline = await page.evaluate(() => {
          const node = document.activeElement;
          const box = node.closest(".composer-line, .agent") || node;
          return node === document.body || getComputedStyle(node).outlineStyle !== "none" || getComputedStyle(box).boxShadow !== "none";
        });
        assert(outline, `focus is seen on ${await focused()}`);
      }
      for (const name of ["Chat", "Plugins", "Tools", "Now", "Access", "New conversation", "Search conversations", "Rename by hand", "Delete by hand", "Copy the reply", "Ask again", "Message", "Send", "Attach files"])
        assert([...seen].some((one) => one?.includes(name)), `${name} is reached by Tab: ${[...seen].join(", ")}`);
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press("4");
      await page.getByRole("heading", { name: "Now" }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.locator("dialog").waitFor({ state: "detached" });
      await page.emulateMedia({ reducedMotion: "reduce" });
      const turns = await page.evaluate(() => {
        const spinner = document.createElement("span");
        spinner.className = "spinner";
        document.body.append(spinner);
        const found = getComputedStyle(spinner).animationIterationCount;
        spinner.remove();
        return found;
      });
      assert(turns === "1", "nothing moves on where less motion is wanted");
      await page.keyboard.press("n");
      await page.getByRole("heading", { name: "New conversation" }).waitFor();
    });
  },
};

play(scenes);
