// Calling tools: a form from the schema with the same as JSON beside it, and what came of the call.

import { api } from "./api.js";
import { h, freshId } from "./dom.js";
import { Catalogue } from "./catalogue.js";
import { jsonView } from "./json_view.js";
import { emptyState } from "./notice.js";
import { SchemaForm } from "./schema_form.js";
import { starter } from "./start.js";
import { world } from "./world.js";

const HINTS = { readOnlyHint: "only reads", destructiveHint: "may destroy", idempotentHint: "can be repeated", openWorldHint: "talks to the world" };

function hints(annotations) {
  return Object.entries(HINTS).filter(([name]) => annotations?.[name] === true).map(([, words]) => h("span", { class: "chip" }, words));
}

/** The form and its JSON, each following the other. */
function inputs(schema) {
  const id = freshId("raw");
  const raw = h("textarea", { id, class: "mono", rows: 8, dir: "ltr", spellcheck: "false", "aria-describedby": `${id}-error` });
  const note = h("p", { id: `${id}-error`, class: "field-error", role: "alert" });
  const form = new SchemaForm(schema, () => {
    raw.value = JSON.stringify(form.value(), null, 2);
    note.textContent = "";
  });
  let isRaw = false;
  const read = () => {
    try {
      const value = JSON.parse(raw.value || "{}");
      note.textContent = "";
      return value;
    } catch (error) {
      note.textContent = `This is no JSON: ${error.message}`;
      return undefined;
    }
  };
  raw.value = JSON.stringify(form.value(), null, 2);
  raw.addEventListener("input", () => {
    isRaw = true;
    const value = read();
    if (value !== undefined && value && typeof value === "object") form.set(value);
  });
  form.node.addEventListener("input", () => { isRaw = false; });
  return {
    node: h("div", { class: "two" }, form.node, h("div", { class: "field" }, h("label", { for: id }, "As JSON"), raw, note)),
    /** undefined: it is not good yet */
    value: () => {
      const value = isRaw ? read() : form.value();
      return value !== undefined && form.check() ? value : undefined;
    },
  };
}

function detail(entry, job) {
  const fields = inputs(entry.input_schema || { type: "object" });
  const start = starter("call", "Call", () => {
    const input = fields.value();
    return input === undefined ? undefined : api.call({ tool: entry.name, input });
  });
  if (job) start.show(job);
  return h("div", { class: "stack" },
    h("header", null, h("h2", { class: "detail-title" }, entry.title || entry.name, entry.asks && h("span", { class: "chip asks" }, "must be approved"), hints(entry.annotations)),
      h("p", { class: "dim", dir: "auto" }, entry.description)),
    h("form", { class: "card", novalidate: true, onsubmit: start.submit }, fields.node, start.buttons),
    start.place,
    h("details", { class: "schemas" }, h("summary", null, "Schemas"), jsonView(entry.input_schema ?? null, "Input"), entry.output_schema && jsonView(entry.output_schema, "Output")));
}

export class Tools extends Catalogue {
  constructor(until) {
    super({ until, place: "tools", title: "Tools", kind: "call", entries: () => world.catalog.tools, detail,
      none: () => emptyState("tools", "No tool is offered here yet", "Bind one where perch runs:", h("code", null, "perch tool add ./words")) });
  }
}
