// The page: its views, which one is shown, who is signed in, whether the server is there.

import { api, closeApi, signedOut } from "./api.js";
import { Access, signIn, takeOnce } from "./access.js";
import { announcer } from "./announcer.js";
import { Chat } from "./chat.js";
import { tell } from "./dialog.js";
import { h, replace } from "./dom.js";
import { emblem, icon } from "./icons.js";
import { hurry, listen, live, rest, restart } from "./live.js";
import { errorCard, notices } from "./notice.js";
import { Now } from "./now.js";
import { Plugins } from "./plugins.js";
import { Tools } from "./tools.js";
import { themeButton } from "./theme.js";
import { readWorld } from "./world.js";

/** The views, in the order of the bar: address, title, what makes it. */
const VIEWS = [
  ["chat", "Chat", (until) => new Chat(until)],
  ["plugins", "Plugins", (until) => new Plugins(until)],
  ["tools", "Tools", (until) => new Tools(until)],
  ["now", "Now", (until) => new Now(until)],
  ["access", "Access", () => new Access(leave)],
];

const KEYS = [
  ["n", "a new conversation", () => { location.hash = "#chat"; }],
  ["/", "search the conversations", () => {
    location.hash = location.hash.startsWith("#chat") ? location.hash : "#chat";
    views.get("chat")?.focusSearch();
  }],
  ...VIEWS.map(([name, title], i) => [String(i + 1), title, () => { location.hash = `#${name}`; }]),
  ["?", "this list", () => showKeys()],
];

const page = document.getElementById("page");
const views = new Map();
let shown = null;
let shell = null;
let isListening = false;
let until = new AbortController(); // what the views hear ends with the user's being signed in

/* ---- views -------------------------------------------------------------------------------------- */

function route() {
  if (!shell) return;
  const [name, ...path] = location.hash.slice(1).split("/").map(decode);
  const row = VIEWS.find(([other]) => other === name) || VIEWS[0];
  if (!views.has(row[0])) {
    const view = row[2](until.signal);
    views.set(row[0], view);
    shell.main.append(view.node);
  }
  const view = views.get(row[0]);
  if (shown !== view) shown?.leave?.();
  shown = view;
  for (const other of views.values()) other.node.hidden = other !== view;
  for (const link of shell.nav.querySelectorAll("a:not(.home)"))
    if (link.hash === `#${row[0]}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  document.title = `${row[1]} · perch`;
  view.enter(path);
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function makeShell() {
  const nav = h("nav", { class: "bar", "aria-label": "Views" },
    h("a", { class: "home", href: "#chat", "aria-label": "perch: chat" }, emblem()),
    VIEWS.map(([name, title]) => h("a", { href: `#${name}` }, icon(name), h("span", null, title))),
    h("div", { class: "bar-end" }, themeButton()));
  const banner = h("div", { class: "banner", role: "status", hidden: true });
  const main = h("main", { id: "main", tabindex: "-1" });
  replace(page, h("a", { class: "skip", href: "#main", onclick: (event) => {
    event.preventDefault();
    main.focus();
  } }, "To the content"), nav, h("div", { class: "stage" }, banner, main), announcer(), notices());
  return { nav, main, banner };
}

/* ---- signing in and out ---------------------------------------------------------------------------- */

async function open() {
  closeApi(false);
  if (!(await readWorld())) return false;
  if (isListening) restart();
  else listen();
  isListening = true;
  forget();
  shell = makeShell();
  showState();
  route();
  return true;
}

function forget() {
  shown?.leave?.();
  shown = null;
  views.clear();
  until.abort();
  until = new AbortController();
}

function close(words) {
  closeApi(true);
  if (isListening) rest();
  shell = null;
  forget();
  replace(page, signIn(open, words), notices());
  document.getElementById("token").focus();
}

async function leave() {
  rest();
  closeApi(true);
  await api.logout().catch(() => {});
  close("");
}

/* ---- whether the server is there -------------------------------------------------------------------- */

let state = "connecting";

function showState() {
  if (!shell) return;
  shell.banner.hidden = state !== "away";
  if (state === "away")
    replace(shell.banner, icon("warn"), h("span", null, "The server is away. What runs there goes on; the page will be back by itself."),
      h("button", { type: "button", class: "plain", onclick: hurry }, "Try now"));
}

live.addEventListener("state", ({ detail }) => {
  state = detail.state;
  showState();
  if (state === "stranger" && shell) close("You are signed out: the token was revoked, or twelve hours are over.");
});

signedOut.addEventListener("out", () => shell && close("Please sign in again."));

/* ---- the keyboard ------------------------------------------------------------------------------------ */

function showKeys() {
  tell("Keys", h("dl", { class: "keys" }, KEYS.map(([key, words]) => [h("dt", null, h("kbd", null, key)), h("dd", null, words)]),
    h("dt", null, h("kbd", null, "Enter")), h("dd", null, "send"), h("dt", null, h("kbd", null, "Esc")), h("dd", null, "stop the agent"),
    h("dt", null, h("kbd", null, "↑")), h("dd", null, "edit the last message")));
}

addEventListener("keydown", (event) => {
  if (!shell || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const row = KEYS.find(([key]) => key === event.key);
  if (!row) return;
  event.preventDefault();
  row[2]();
});

addEventListener("hashchange", route);

async function begin() {
  const words = await takeOnce();
  try {
    if (!(await open())) close(words);
  } catch (error) {
    replace(page, h("main", { class: "door" }, errorCard("The server does not answer", error, () => location.reload())));
  }
}

begin();
