// The conversations at the left: found by words, named, deleted.

import { api } from "./api.js";
import { later, h, newest, replace } from "./dom.js";
import { icon } from "./icons.js";
import { ask } from "./dialog.js";
import { busy, say, sayError } from "./notice.js";
import { ago } from "./time.js";

export const address = (agent, session) => `#chat/${encodeURIComponent(agent)}/${encodeURIComponent(session)}`;
export const titleOf = (session) => session.title || session.first?.split("\n")[0].trim() || "Untitled";

export class Sessions {
  /** removed(session): one was deleted. */
  constructor(removed) {
    this.removed = removed;
    this.all = [];
    this.extra = null; // a conversation that has no transcript yet
    this.open = "";
    this.words = "";
    this.newest = newest();
    this.search = h("input", { type: "search", placeholder: "Search conversations", "aria-label": "Search conversations",
      oninput: later(200, () => this.find()) });
    this.list = h("ul", { class: "session-list", "aria-label": "Conversations" }, h("li", null, busy("Reading …")));
    this.more = h("button", { type: "button", class: "plain", hidden: true, onclick: () => this.readMore() }, "Older conversations");
    this.node = h("aside", { class: "sessions", "aria-label": "Conversations" },
      h("div", { class: "sessions-head" },
        h("a", { class: "button primary", href: "#chat" }, icon("plus"), "New conversation"),
        h("div", { class: "search" }, icon("search"), this.search)),
      h("nav", { "aria-label": "Conversations" }, this.list), this.more);
  }

  find() {
    this.words = this.search.value.trim();
    this.read();
  }

  /** Done when the list is there, though another reading may have overtaken this one. */
  read() {
    this.reading = this.readNow();
    return this.reading;
  }

  async readNow() {
    try {
      const found = await this.newest(api.sessions(this.words));
      if (!found) return this.reading;
      this.all = found;
      this.more.hidden = found.length < 100;
      this.draw();
    } catch (error) {
      if (error.code === "no_store") replace(this.list, h("li", { class: "dim" }, "This server keeps no conversations (--no-store)."));
      else if (error.status !== 401) replace(this.list, h("li", { class: "dim" }, error.message));
    }
    return this.all;
  }

  async readMore() {
    const last = this.all[this.all.length - 1];
    const found = await api.sessions(this.words, Math.round(last.used * 1000)).catch(() => []);
    this.all.push(...found.filter((one) => !this.all.some((other) => other.id === one.id)));
    this.more.hidden = found.length < 100;
    this.draw();
  }

  named(agent, session) {
    return this.all.find((one) => one.agent === agent && one.session === session);
  }

  /** Which one is open; `extra` where it is new. */
  show(open, extra) {
    this.open = open;
    this.extra = extra;
    this.draw();
  }

  draw() {
    const rows = [...this.all];
    const { extra } = this;
    if (extra && !this.words && !this.named(extra.agent, extra.session)) rows.unshift(extra);
    replace(this.list, rows.map((session) => this.row(session)));
    if (!rows.length)
      replace(this.list, h("li", { class: "dim" }, this.words ? "Nothing was said with these words." : "Your conversations will be here."));
  }

  row(session) {
    const href = address(session.agent, session.session);
    const isOpen = href === this.open;
    const title = titleOf(session);
    return h("li", { class: isOpen ? "session is-open" : "session" },
      h("a", { href, "aria-current": isOpen ? "page" : null },
        h("span", { class: "session-title", dir: "auto" }, title),
        h("span", { class: "session-about" }, `${session.agent} · ${session.used ? ago(session.used) : "now"}`)),
      session.id && h("span", { class: "session-actions" },
        h("button", { type: "button", class: "quiet", title: "Rename", "aria-label": `Rename ${title}`, onclick: () => this.rename(session) }, icon("edit")),
        h("button", { type: "button", class: "quiet", title: "Delete", "aria-label": `Delete ${title}`, onclick: () => this.remove(session) }, icon("trash"))));
  }

  async rename(session) {
    const title = await ask({ title: "Rename the conversation", label: "Name", value: titleOf(session), yes: "Rename" });
    if (title === null || !title.trim()) return;
    try {
      await api.rename(session.id, title.trim());
      await this.read();
    } catch (error) {
      sayError(error);
    }
  }

  async remove(session) {
    const isSure = await ask({ title: "Delete the conversation?", words: `“${titleOf(session)}”: what was said in it is forgotten. This cannot be undone.`,
      yes: "Delete", isDangerous: true });
    if (!isSure) return;
    try {
      await api.remove(session.id);
      say("Deleted");
      await this.read();
      this.removed(session);
    } catch (error) {
      sayError(error);
    }
  }
}
