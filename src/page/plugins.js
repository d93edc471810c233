// Running plugins: their commands with arguments as a form, and their runs.

import { api } from "./api.js";
import { h, freshId } from "./dom.js";
import { Catalogue } from "./catalogue.js";
import { emptyState } from "./notice.js";
import { starter } from "./start.js";
import { splitWords } from "./words.js";
import { world } from "./world.js";

/** A field for each argument that the manifest names, and one for more. */
function argumentForm(entry) {
  const known = (Array.isArray(entry.arguments) ? entry.arguments : []).map((one) => (typeof one === "string" ? { name: one } : one));
  const fields = known.map((one) => {
    const id = freshId("argument");
    const input = h("input", { id, type: "text", autocomplete: "off", dir: "auto", required: Boolean(one.required), placeholder: one.default ?? null });
    return { one, input, node: h("div", { class: "field" }, h("label", { for: id }, one.name || "argument", one.required && h("span", { class: "needed" }, " needed")), input,
      one.description && h("p", { class: "field-about", dir: "auto" }, one.description)) };
  });
  const id = freshId("more");
  const more = h("input", { id, type: "text", autocomplete: "off", dir: "auto", class: "mono", placeholder: known.length ? "" : "staging --force" });
  return {
    nodes: [fields.map((field) => field.node), h("div", { class: "field" }, h("label", { for: id }, known.length ? "More arguments" : "Arguments"), more,
      h("p", { class: "field-about" }, "As on a command line: blanks part them, quotes hold them together."))],
    words: () => {
      const named = fields.map(({ input, one }) => input.value || one.default || "");
      while (named.length && !named[named.length - 1]) named.pop();
      return [...named, ...splitWords(more.value)];
    },
  };
}

function detail(entry, job) {
  const form = argumentForm(entry);
  const start = starter("run", "Run", () => api.run({ command: entry.name, args: form.words() }));
  if (job) start.show(job);
  return h("div", { class: "stack" },
    h("header", null, h("h2", { class: "detail-title" }, entry.title || entry.name, entry.dangerous && h("span", { class: "chip asks" }, "dangerous")),
      h("p", { class: "dim", dir: "auto" }, entry.description)),
    h("form", { class: "card fields", onsubmit: start.submit }, form.nodes, start.buttons), start.place);
}

export class Plugins extends Catalogue {
  constructor(until) {
    super({ until, place: "plugins", title: "Plugins", kind: "run", entries: () => world.catalog.commands, detail,
      none: () => emptyState("plugins", "No plugin is offered here yet", "Install one where perch runs, and list its command under plugins of [expose.http]:",
        h("code", null, "perch plugins install ./deploy")) });
  }
}
