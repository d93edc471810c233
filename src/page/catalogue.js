// A list of what can be used at the left, and one of it at the right: for plugins and for tools.

import { api } from "./api.js";
import { h, newest, replace, steadily } from "./dom.js";
import { icon } from "./icons.js";
import { live } from "./live.js";
import { emptyState } from "./notice.js";
import { ago, span } from "./time.js";

const HISTORY = 20;

export class Catalogue {
  /** until: the signal that ends it; place: the view's address; kind: of its jobs; entries(); detail(entry, place): its nodes; none(): when there is nothing */
  constructor({ until, place, title, kind, entries, detail, none }) {
    Object.assign(this, { place, title, kind, entries, detail, none });
    this.words = "";
    this.open = null;
    this.list = h("ul", { class: "session-list", "aria-label": title });
    this.filter = h("input", { type: "search", placeholder: `Find in ${title.toLowerCase()}`, "aria-label": `Find in ${title.toLowerCase()}`,
      oninput: () => this.drawList() });
    this.body = h("div", { class: "detail" });
    this.history = h("section", { class: "history" });
    this.aside = h("aside", { class: "sessions", "aria-label": title },
      h("div", { class: "sessions-head" }, h("h1", null, title), h("div", { class: "search" }, icon("search"), this.filter)), h("nav", { "aria-label": title }, this.list));
    this.main = h("div", { class: "panel", tabindex: "-1" }, this.body, this.history);
    this.node = h("div", { class: "chat catalogue" }, this.aside, this.main);
    this.newest = newest();
    const refresh = steadily(300, () => this.open && !this.node.hidden && this.readHistory());
    live.addEventListener("events", ({ detail: events }) => events.some((event) => event.event === "end" || event.event === "start") && refresh(), { signal: until });
    live.addEventListener("state", ({ detail: { state } }) => state === "open" && refresh(), { signal: until });
  }

  enter([name, job]) {
    const entries = this.entries();
    this.node.classList.toggle("is-open", Boolean(name));
    const entry = entries.find((one) => one.name === name);
    this.drawList(name);
    if (!entries.length) replace(this.body, this.none());
    else if (!entry && name) replace(this.body, emptyState(this.place, `There is no “${name}” here`, h("a", { href: `#${this.place}` }, "See what there is")));
    else if (!entry) replace(this.body, emptyState(this.place, `Choose one at the left`, entries.length === 1 ? "There is one." : `There are ${entries.length}.`));
    else if (this.open !== name || job) {
      replace(this.body, h("a", { class: "only-narrow plain button", href: `#${this.place}` }, icon("back"), this.title), this.detail(entry, job));
    }
    this.open = entry ? name : null;
    this.history.hidden = !entry;
    if (entry) this.readHistory();
  }

  drawList(open = this.open) {
    const words = this.filter.value.toLowerCase();
    const found = this.entries().filter((entry) => `${entry.name} ${entry.title || ""} ${entry.description || ""}`.toLowerCase().includes(words));
    replace(this.list, found.map((entry) => h("li", { class: entry.name === open ? "session is-open" : "session" },
      h("a", { href: `#${this.place}/${encodeURIComponent(entry.name)}`, "aria-current": entry.name === open ? "page" : null },
        h("span", { class: "session-title" }, entry.title || entry.name),
        h("span", { class: "session-about", dir: "auto" }, entry.description || "")))),
    !found.length && h("li", { class: "dim" }, words ? "Nothing fits." : "Nothing is here yet."));
  }

  async readHistory() {
    const name = this.open;
    const jobs = await this.newest(api.jobs().catch(() => undefined));
    if (!jobs || name !== this.open) return;
    const mine = jobs.filter((job) => job.kind === this.kind && job.name === name).slice(0, HISTORY);
    replace(this.history, h("h2", null, "Before"), mine.length
      ? h("ul", { class: "past" }, mine.map((job) => h("li", null,
        h("a", { href: `#${this.place}/${encodeURIComponent(name)}/${job.id}` }, ago(job.created)), h("span", { class: `chip ${job.state}` }, job.state),
        h("span", { class: "dim" }, job.ended && job.started ? span((job.ended - job.started) * 1000) : ""), h("span", { class: "dim" }, job.user))))
      : h("p", { class: "dim" }, "It has not been used within the last hour."));
  }
}
