// Scenes of the page: signing in and talking with agents.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AWAY, UNSIGNED } from "./browser.mjs";
import { source, write } from "./place.mjs";
import { assert, play } from "./stage.mjs";

const partial = (text) => `AGENT_PARTIAL:${JSON.stringify(text)}`;

/** A shell agent that prints these partials. */
const saying = (...texts) => `#!/bin/sh\ncat <<'END'\n${texts.map(partial).join("\n")}\nEND\n`;

async function say(page, text) {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

const replies = (page) => page.locator(".row.reply");
const ended = (page, count = 1) => page.locator(".row.reply[aria-busy=false]").nth(count - 1).waitFor();

const said = (page) => page.locator(".said").allInnerTexts();

/** What is behind it waits until it is opened. */
function gate() {
  const one = {};
  one.opened = new Promise((done) => { one.open = done; });
  return one;
}

/** An agent that waits for a file before it goes on. */
const slow = (work) => `#!/bin/sh\necho '${partial("begun")}'\nwhile [ ! -e "${work}/go" ]; do sleep 0.05; done\necho '${partial(" and done")}'\n`;

/** Two tabs; without SharedWorker the one that has a lock reads for both. */
async function twoTabs({ agent, expose, token, stage, work }, hasWorker) {
  expose();
  agent("slow", slow(work));
  const secret = token("laptop");
  await stage(async (server, browser) => {
    if (!hasWorker) await browser.context.addInitScript(() => { delete window.SharedWorker; });
    const one = await browser.enter(server, secret);
    let streams = 0;
    browser.context.on("request", (request) => { streams += request.url().endsWith("/api/events") ? 1 : 0; });
    await say(one, "for both");
    await one.getByText("begun").waitFor();
    const two = await browser.page();
    await two.goto(await one.url());
    await two.getByText("begun").waitFor();
    await two.locator(".said", { hasText: "for both" }).waitFor();
    writeFileSync(join(work, "go"), "");
    await Promise.all([one, two].map((page) => page.locator(".prose").getByText("begun and done").waitFor()));
    await say(two, "from the other");
    await Promise.all([one, two].map((page) => ended(page, 2)));
    assert(await one.locator(".row.user").count() === 2 && await two.locator(".row.user").count() === 2, "each is there once");
    const metrics = await (await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${secret}` } })).text();
    assert(/^perch_streams 1$/m.test(metrics), `one stream for both: ${/perch_streams \d+/.exec(metrics)} ${streams}`);
  });
}

const scenes = {
  async door({ agent, expose, stage, token }) {
    expose();
    agent("echo", saying("hello"));
    const secret = token("laptop");
    await stage(async (server, browser) => {
      browser.expected.push(UNSIGNED);
      const page = await browser.page();
      await page.goto(server.url);
      await page.getByLabel("Token").fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("That token is not valid").waitFor();
      assert(browser.complaints.length === 1, "the wrong token alone is complained about");
      await page.getByLabel("Token").fill(secret);
      await page.keyboard.press("Enter");
      await page.getByRole("navigation", { name: "Views" }).waitFor();
      const cookies = await browser.context.cookies();
      assert(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === "Strict" && !secret.includes(cookies[0].value), "the cookie");
      assert(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes(secret), "the token is kept nowhere");
      await page.goto(`${server.url}/#access`);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Token").waitFor();
      await page.reload();
      await page.getByLabel("Token").waitFor();
    });
  },

  async talk({ agent, expose, stage, token }) {
    expose();
    agent("writer", saying("# Head\n\nA **bold** word and `code`.\n\n", "| a | b |\n|---|--:|\n| 1 | 2 |\n\n", "```js\nconst x = 1; // one\n```\n\n", "مرحبا بالعالم\n\n- one\n- two\n"));
    agent("fail", `#!/bin/sh\necho '${partial("I try.")}'\necho 'the disk is made of cheese' >&2\nexit 3\n`);
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      await page.getByRole("radio", { name: "writer" }).check();
      await say(page, "write me something");
      await ended(page);
      const reply = replies(page).first();
      await reply.locator("h3", { hasText: "Head" }).waitFor();
      await reply.locator("td", { hasText: "2" }).waitFor();
      assert(await reply.locator(".lex-comment").innerText() === "// one", "code is coloured");
      assert(await reply.locator("p", { hasText: "مرحبا" }).evaluate((node) => getComputedStyle(node).direction) === "rtl", "right to left");
      await reply.getByRole("button", { name: "Copy the code" }).click();
      await page.getByText("Copied").waitFor();
      await page.locator(".session", { hasText: "write me something" }).waitFor();
      await reply.getByRole("button", { name: "Ask again" }).click();
      await ended(page, 2);
      await page.locator(".row.user").last().hover();
      await page.getByRole("button", { name: "Edit and send again" }).last().click();
      assert(await page.getByLabel("Message", { exact: true }).inputValue() === "write me something", "the text is there to be changed");
      await say(page, "write me something else");
      await page.locator(".row.user", { hasText: "something else" }).waitFor();
      await page.reload();
      await page.locator(".row.user", { hasText: "something else" }).waitFor();
      await page.locator(".list").evaluate((list) => { list.scrollTop = 0; });
      await page.waitForFunction(() => document.querySelector(".row.user .said")?.textContent === "write me something");
      await page.getByRole("link", { name: "New conversation" }).click();
      await page.getByRole("radio", { name: "fail" }).check();
      await say(page, "try it");
      await page.getByText("the agent failed with exit status 3").waitFor();
      await page.getByText("What it wrote to stderr").click();
      await page.getByText("the disk is made of cheese").waitFor();
      await page.reload();
      await page.getByText("the agent failed with exit status 3").waitFor();
    });
  },

  async sessions({ agent, expose, stage, token }) {
    expose();
    agent("echo", saying("a reply about herrings"));
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      for (const text of ["the first matter", "the second matter"]) {
        await page.getByRole("link", { name: "New conversation" }).click();
        await page.locator(".welcome").waitFor();
        await say(page, text);
        await ended(page);
        await page.locator(".session", { hasText: text }).getByTitle("Rename").waitFor({ state: "attached" });
      }
      const rows = page.locator(".session");
      await page.getByLabel("Search conversations").fill("first");
      await page.waitForFunction(() => document.querySelectorAll(".session").length === 1);
      await page.getByLabel("Search conversations").fill("herrings");
      await page.waitForFunction(() => document.querySelectorAll(".session").length === 2);
      await page.getByLabel("Search conversations").fill("");
      await rows.filter({ hasText: "the first matter" }).hover();
      await page.getByRole("button", { name: "Rename the first matter" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Fish");
      await page.getByRole("button", { name: "Rename", exact: true }).click();
      await rows.filter({ hasText: "Fish" }).waitFor();
      await page.reload();
      await rows.filter({ hasText: "Fish" }).waitFor();
      await rows.filter({ hasText: "Fish" }).getByRole("link").click();
      await page.getByRole("heading", { name: "Fish" }).waitFor();
      await rows.filter({ hasText: "Fish" }).hover();
      await page.getByRole("button", { name: "Delete Fish" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await rows.filter({ hasText: "Fish" }).waitFor({ state: "detached" });
      await page.getByRole("heading", { name: "New conversation" }).waitFor();
      assert(await rows.count() === 1, "the other one is left");
    });
  },

  /** Answers that are late, lost or overtaken. */
  async hurry({ agent, expose, stage, token, work }) {
    expose();
    agent("slow", slow(work));
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const late = gate();
      await browser.context.route(/\/api\/sessions\?/, async (route) => {
        await late.opened;
        await route.continue();
      });
      const page = await browser.enter(server, secret);
      await page.getByRole("link", { name: "New conversation" }).click();
      await say(page, "first");
      await say(page, "second");
      await page.locator(".prose").getByText("begun").waitFor();
      late.open();
      await page.locator(".session", { hasText: "first" }).waitFor();
      assert((await said(page)).join() === "first,second", "what was said before the list was there stays");
      writeFileSync(join(work, "go"), "");
      await ended(page, 2);
      await page.locator(".session", { hasText: "first" }).getByTitle("Rename").waitFor({ state: "attached" });
      assert(await page.locator(".session").count() === 1, "both are of one conversation");

      const held = gate();
      await page.route(/\/api\/turns$/, async (route) => {
        await held.opened;
        await route.continue();
      });
      await say(page, "third");
      await page.getByText("Sending …").waitFor();
      await page.getByRole("link", { name: "New conversation" }).click();
      await page.locator(".welcome").waitFor();
      held.open();
      const taken = page.waitForResponse(/\/api\/turns$/);
      await say(page, "elsewhere");
      await taken;
      await ended(page);
      assert((await said(page)).join() === "elsewhere", "nothing comes into another conversation");
      await page.locator(".session", { hasText: "first" }).getByRole("link").click();
      await ended(page, 3);
      assert((await said(page)).join() === "first,second,third", "nor is it lost");

      browser.expected.push(/ERR_FAILED/);
      await page.route(/\/api\/turns$/, async (route) => { // heard by the server, but its answer is lost
        await route.fetch();
        await route.abort();
      }, { times: 1 });
      await say(page, "fourth");
      await page.getByText("the server cannot be reached").waitFor();
      await page.waitForFunction(() => document.querySelector(".composer textarea").value === "fourth");
      await page.keyboard.press("Enter");
      await ended(page, 4);
      await page.reload();
      await ended(page, 4);
      assert((await said(page)).join() === "first,second,third,fourth", "it was said once");
    });
  },

  /** A machine that was asleep: frozen scripts, a dead network, and much that happened meanwhile. */
  async sleep({ agent, expose, stage, token, work }) {
    expose();
    agent("slow", `#!/bin/sh\necho '${partial("one ")}'\nwhile [ ! -e "${work}/two" ]; do sleep 0.05; done\necho '${partial("two ")}'
while [ ! -e "${work}/three" ]; do sleep 0.05; done\necho '${partial("three")}'\n`);
    const secret = token("laptop");
    await stage(async (server, browser) => {
      browser.expected.push(/ERR_INTERNET_DISCONNECTED/);
      const page = await browser.enter(server, secret);
      await say(page, "before");
      await page.locator(".prose").getByText("one").waitFor();
      const session = new URL(page.url()).hash.split("/")[2];
      const machine = await browser.context.newCDPSession(page);
      await machine.send("Page.enable");
      await machine.send("Page.setWebLifecycleState", { state: "frozen" });
      await browser.context.setOffline(true);
      writeFileSync(join(work, "two"), "");
      const ask = (path, body) => fetch(`${server.url}${path}`, { method: body ? "POST" : "GET", headers: { Authorization: `Bearer ${secret}` }, body: body && JSON.stringify(body) }).then((answer) => answer.json());
      const { id } = await ask("/api/turns", { agent: "slow", message: "from elsewhere", session });
      writeFileSync(join(work, "three"), "");
      while ((await ask(`/api/jobs/${id}`)).state !== "done") await new Promise((done) => { setTimeout(done, 100); });
      await browser.context.setOffline(false);
      await machine.send("Page.setWebLifecycleState", { state: "active" });
      await ended(page, 2);
      assert((await said(page)).join() === "before,from elsewhere", `each was said once: ${await said(page)}`);
      const texts = await page.locator(".prose").allInnerTexts();
      assert(texts.length === 2 && texts.every((text) => text.trim() === "one two three"), `each reply is whole, and once: ${texts}`);
      await say(page, "and on");
      await ended(page, 3);
    });
  },

  async stop({ agent, expose, stage, token, work }) {
    expose();
    agent("slow", slow(work));
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      await say(page, "go");
      await page.getByText("begun").waitFor();
      await say(page, "and again");
      await page.getByText("It is next").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await ended(page, 2);
      assert(await page.locator(".mild").count() === 2, "both were stopped");
      await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
    });
  },

  tabs: (place) => twoTabs(place, true),
  plain_tabs: (place) => twoTabs(place, false),

  async restart({ agent, expose, stage, token, work }) {
    expose();
    agent("slow", slow(work));
    agent("steady", slow(work), "retry: 3\n");
    const secret = token("laptop");
    await stage(async (server, browser) => {
      browser.expected.push(AWAY);
      const page = await browser.enter(server, secret);
      await page.getByRole("radio", { name: "slow" }).check();
      await say(page, "survive");
      await page.getByText("begun").waitFor();
      await server.stop("SIGKILL");
      await page.getByText("The server is away").waitFor();
      writeFileSync(join(work, "go"), "");
      await server.start();
      await page.getByText("The server died while this ran").waitFor();
      await page.getByText("The server is away").waitFor({ state: "hidden" });
      await say(page, "and now");
      await page.locator(".prose").getByText("begun and done").waitFor();
    });
  },

  async attach({ agent, expose, stage, token, work }) {
    expose();
    agent("files", `#!/usr/bin/env python3
import json, os
files = json.loads(os.environ.get("AGENT_ATTACHMENTS") or "[]")
names = []
for file in files:
    path = file.get("path") or file.get("url", "").replace("file://", "")
    names.append("%s=%s" % (file.get("name"), open(path, "rb").read().decode()))
print("AGENT_PARTIAL:" + json.dumps("got " + ", ".join(names)), flush=True)
`);
    const secret = token("laptop");
    write(join(work, "note.txt"), "by button");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      await page.locator("input[type=file]").setInputFiles(join(work, "note.txt"));
      await page.locator(".composer .attached li", { hasText: "note.txt" }).waitFor();
      const give = (kind, name, text) => page.evaluate(([event, file, words]) => {
        const data = new DataTransfer();
        data.items.add(new File([words], file, { type: "text/plain" }));
        const target = event === "paste" ? document.querySelector(".composer textarea") : document.querySelector(".talk");
        target.dispatchEvent(event === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
      }, [kind, name, text]);
      await give("paste", "pasted.txt", "by paste");
      await give("drop", "dropped.txt", "by drop");
      await page.locator(".composer .attached li").nth(2).waitFor();
      await page.waitForFunction(() => document.querySelectorAll(".composer .attached li").length === 3);
      await say(page, "here");
      await page.locator(".prose", { hasText: "by button" }).waitFor();
      const text = await replies(page).first().innerText();
      for (const words of ["note.txt=by button", "pasted.txt=by paste", "dropped.txt=by drop"]) assert(text.includes(words), `${words} in ${text}`);
    });
  },

  async mind({ agent, expose, stage, token }) {
    expose();
    agent("thinker", `#!/usr/bin/env python3
import json, sys
def send(**event): print(json.dumps(event), flush=True)
sys.stdin.readline()
send(type="partial", role="thinking", text="let me see")
send(type="partial", text="May I? ")
send(type="permission_request", request_id="1", tool_name="bash", input={"command": "ls -l"}, description="looks around")
answer = json.loads(sys.stdin.readline())
send(type="partial", text="It was: " + answer["behavior"], usage={"input_tokens": 1200, "output_tokens": 34})
`, 'protocol: "0.4"\npermission: true\n');
    agent("hosted", readFileSync(join(source, "tests/acp/hosted.py"), "utf8"), "protocol: acp\n");
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      await page.getByRole("radio", { name: "thinker" }).check();
      await say(page, "think");
      await page.getByText("looks around").waitFor();
      await page.getByLabel("What it wants to do").getByText("ls -l").waitFor();
      assert(!(await page.getByText("let me see").isVisible()), "thinking is folded");
      await page.getByText("Thinking", { exact: true }).click();
      await page.getByText("let me see").waitFor();
      await page.getByRole("button", { name: "Yes", exact: true }).click();
      await page.locator(".prose", { hasText: "It was: allow" }).waitFor();
      await page.getByText("1,200 tokens in, 34 out").waitFor();
      await page.locator(".answered", { hasText: "bash" }).waitFor();
      await say(page, "again");
      await page.getByRole("button", { name: "No", exact: true }).click();
      await page.locator(".prose", { hasText: "It was: deny" }).waitFor();
      await page.getByRole("link", { name: "New conversation" }).click();
      await page.getByRole("radio", { name: "hosted" }).check();
      await say(page, "show");
      await ended(page);
      await page.locator(".plan-pending", { hasText: "look" }).waitFor();
      const card = page.locator(".activity", { hasText: "Read it" });
      await card.getByText("done", { exact: true }).waitFor();
      assert(await card.count() === 1, "a tool and what came of it are one card");
      await card.click();
      await card.getByLabel("Input").getByText('"path"').waitFor();
      await card.getByLabel("Output").getByText('"n"').waitFor();
      await page.getByText("10 of 100 tokens of its context").waitFor();
      await page.screenshot({ path: join(process.env.PERCH_PAGE_PICTURES, "activity-1280-light.png"), animations: "disabled" });
      await say(page, "permit");
      await page.getByText("Change it").waitFor();
      for (const name of ["Once", "Ever", "No"]) await page.getByRole("button", { name, exact: true }).waitFor();
      await page.getByRole("button", { name: "Once", exact: true }).click();
      await page.locator(".prose", { hasText: "once-1" }).waitFor();
      await page.reload();
      await page.locator(".activity", { hasText: "Read it" }).waitFor();
      await page.locator(".answered").waitFor();
    });
  },

  async injections({ agent, expose, stage, token }) {
    expose();
    const list = JSON.parse(readFileSync(join(source, "tests/page/injections.json"), "utf8"));
    assert(list.length >= 40, "forty of them");
    agent("hostile", `#!/usr/bin/env python3
import json
for text in json.load(open("${join(source, "tests/page/injections.json")}")):
    print("AGENT_PARTIAL:" + json.dumps(text + "\\n\\n"), flush=True)
`);
    const secret = token("laptop");
    await stage(async (server, browser) => {
      const page = await browser.enter(server, secret);
      await page.evaluate(() => { window.stung = 0; });
      await say(page, "<img src=x onerror=window.stung++>");
      await ended(page);
      const found = await page.evaluate(() => ({
        stung: window.stung,
        tags: [...document.querySelectorAll(".prose *")].map((node) => node.localName),
        links: [...document.querySelectorAll(".prose a")].map((node) => node.protocol),
        handlers: [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes]).filter((one) => /^on|^style$|^srcdoc$/.test(one.name)).length,
        text: document.querySelector(".prose").textContent,
      }));
      const allowed = ["p", "a", "code", "pre", "figure", "figcaption", "span", "button", "svg", "path", "em", "strong", "s", "br", "ul", "ol", "li",
        "h3", "h4", "h5", "h6", "blockquote", "hr", "table", "thead", "tbody", "tr", "th", "td", "div", "img", "input"];
      assert(found.stung === 0, "nothing of a reply has run");
      const wrong = found.tags.filter((tag) => !allowed.includes(tag));
      assert(!wrong.length, `elements that Markdown does not have: ${wrong}`);
      assert(found.links.every((protocol) => ["http:", "https:", "mailto:"].includes(protocol)), `links: ${found.links}`);
      assert(found.handlers <= 4, `attributes that run: ${found.handlers}`);
      assert(found.text.includes("<script>"), "it is shown as text");
      for (const picture of await page.locator(".prose img").all())
        assert((await picture.getAttribute("src")).startsWith("data:image/png;"), "pictures of other sites are not fetched");
    });
  },
};

play(scenes);
