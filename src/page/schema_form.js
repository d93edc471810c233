// A form from a JSON schema. A field is { node, value(), set(value), mark(path, words) }; undefined is
// the value of one that is left empty.

import { h, replace, freshId } from "./dom.js";
import { icon } from "./icons.js";
import { check, inputType, isLong, kindOf, options, resolve } from "./schema.js";

const DEPTH_MAX = 6; // deeper parts are written as JSON

export class SchemaForm {
  /** changed() behind every change by the user. */
  constructor(schema, changed = () => {}) {
    this.schema = schema || { type: "object" };
    this.field = makeField(this.schema, this.schema, { changed, depth: 0, isTop: true });
    this.node = h("div", { class: "schema-form" }, this.field.node);
  }

  value() {
    return this.field.value() ?? {};
  }

  set(value) {
    this.field.set(value);
  }

  /** Marks what is wrong; whether nothing is. */
  check() {
    for (const note of this.node.querySelectorAll(".field-error")) note.textContent = "";
    for (const input of this.node.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    const wrong = check(this.schema, this.value());
    for (const [path, words] of wrong) this.field.mark(path.split("/").slice(1), words);
    this.node.querySelector("[aria-invalid]")?.focus();
    return !wrong.length;
  }
}

function makeField(schema, root, context) {
  const resolved = resolve(schema, root);
  const kind = context.depth > DEPTH_MAX ? "json" : kindOf(resolved);
  return (MAKERS[kind] || jsonField)(resolved, root, context);
}

/* ---- one value ------------------------------------------------------------------------------------ */

/** A labelled control, with its description and what is wrong with it. */
function labelled(schema, context, id, control, isInline = false) {
  const name = schema.title || context.name;
  const note = h("p", { class: "field-error", id: `${id}-error` });
  control.setAttribute("id", id);
  control.setAttribute("aria-describedby", `${id}-about ${id}-error`);
  if (!name) control.setAttribute("aria-label", context.label || "Value");
  const label = name && h("label", { for: id }, name, context.isNeeded && h("span", { class: "needed" }, " needed"));
  const about = h("p", { class: "field-about", id: `${id}-about`, dir: "auto" }, schema.description);
  const node = h("div", { class: isInline ? "field inline" : "field" }, isInline ? [control, label] : [label, control], about, note);
  const mark = (path, words) => {
    note.textContent = `${name || "This"} ${words}.`;
    control.setAttribute("aria-invalid", "true");
  };
  return { node, mark };
}

function textField(schema, root, context) {
  const long = isLong(schema);
  const control = h(long ? "textarea" : "input", { type: long ? null : inputType(schema), rows: long ? 4 : null, dir: "auto",
    autocomplete: "off", placeholder: schema.examples?.[0] ?? null, oninput: context.changed });
  const own = labelled(schema, context, freshId("field"), control);
  const set = (value) => { control.value = value ?? schema.default ?? ""; };
  set();
  const value = () => (control.value === "" && !(context.isNeeded && schema.minLength === 0) ? undefined : control.value);
  return { ...own, value, set };
}

function numberField(schema, root, context) {
  const control = h("input", { type: "number", step: schema.type === "integer" ? schema.multipleOf ?? 1 : "any",
    min: schema.minimum, max: schema.maximum, oninput: context.changed });
  const own = labelled(schema, context, freshId("field"), control);
  const set = (value) => { control.value = value ?? schema.default ?? ""; };
  set();
  return { ...own, value: () => (control.value === "" ? undefined : Number(control.value)), set };
}

function booleanField(schema, root, context) {
  const control = h("input", { type: "checkbox", onchange: () => {
    touched = true;
    context.changed();
  } });
  const own = labelled(schema, context, freshId("field"), control, true);
  let touched = false;
  const set = (value) => {
    control.checked = value ?? schema.default ?? false;
    touched = value !== undefined;
  };
  set();
  const value = () => (touched || context.isNeeded || schema.default !== undefined ? control.checked : undefined);
  return { ...own, value, set };
}

function enumField(schema, root, context) {
  const choices = options(schema);
  const control = h("select", { onchange: context.changed },
    h("option", { value: "" }, context.isNeeded ? "choose one" : "none"),
    choices.map(([, words], i) => h("option", { value: String(i) }, words)));
  const own = labelled(schema, context, freshId("field"), control);
  const set = (value) => {
    const wanted = JSON.stringify(value ?? schema.default);
    control.value = String(choices.findIndex(([option]) => JSON.stringify(option) === wanted));
    if (control.selectedIndex < 0) control.value = "";
  };
  set();
  return { ...own, value: () => choices[control.value === "" ? -1 : Number(control.value)]?.[0], set };
}

function jsonField(schema, root, context) {
  const control = h("textarea", { rows: 3, class: "mono", dir: "ltr", spellcheck: "false", placeholder: "JSON", oninput: context.changed });
  const own = labelled(schema, context, freshId("field"), control);
  const set = (value) => { control.value = (value ?? schema.default) === undefined ? "" : JSON.stringify(value ?? schema.default, null, 2); };
  set();
  const value = () => {
    if (!control.value.trim()) return undefined;
    try {
      return JSON.parse(control.value);
    } catch {
      return control.value;
    }
  };
  return { ...own, value, set };
}

/* ---- parts ------------------------------------------------------------------------------------------- */

function objectField(schema, root, context) {
  const needed = new Set(schema.required || []);
  const fields = Object.entries(schema.properties).map(([name, part]) =>
    [name, makeField(part, root, { changed: context.changed, depth: context.depth + 1, name, isNeeded: needed.has(name) })]);
  const nodes = fields.map(([, field]) => field.node);
  const node = context.isTop ? h("div", { class: "fields" }, nodes.length ? nodes : h("p", { class: "dim" }, "It takes no input."))
    : h("fieldset", null, h("legend", null, schema.title || context.name || context.label),
      schema.description && h("p", { class: "field-about" }, schema.description), nodes);
  return {
    node,
    value: () => {
      const all = Object.fromEntries(fields.map(([name, field]) => [name, field.value()]).filter(([, value]) => value !== undefined));
      return Object.keys(all).length || context.isNeeded || context.isTop ? all : undefined;
    },
    set: (value) => { for (const [name, field] of fields) field.set(value?.[name]); },
    mark: (path, words) => (fields.find(([name]) => name === path[0]) || fields[0])?.[1].mark(path.slice(1), words),
  };
}

function arrayField(schema, root, context) {
  const name = schema.title || context.name || "items";
  const list = h("div", { class: "items" });
  const note = h("p", { class: "field-error" });
  let rows = [];
  const add = (value, isFocused) => {
    const field = makeField(schema.items, root, { changed: context.changed, depth: context.depth + 1, isNeeded: true,
      label: `${name} ${rows.length + 1}` });
    if (value !== undefined) field.set(value);
    const row = { field };
    row.node = h("div", { class: "item" }, field.node, h("button", { type: "button", class: "quiet", "aria-label": `Remove from ${name}`,
      onclick: () => {
        rows = rows.filter((other) => other !== row);
        row.node.remove();
        context.changed();
      } }, icon("close")));
    rows.push(row);
    list.append(row.node);
    if (isFocused) row.node.querySelector("input, textarea, select")?.focus();
  };
  const set = (value) => {
    rows = [];
    replace(list);
    for (const item of Array.isArray(value) ? value : schema.default || []) add(item);
    while (rows.length < Math.min(schema.minItems || 0, 20)) add();
  };
  const more = h("button", { type: "button", class: "plain", onclick: () => {
    add(undefined, true);
    context.changed();
  } }, icon("plus"), `Add to ${name}`);
  const node = h("fieldset", null, h("legend", null, name, context.isNeeded && h("span", { class: "needed" }, " needed")),
    schema.description && h("p", { class: "field-about" }, schema.description), list, note, more);
  set();
  return {
    node, set,
    value: () => (rows.length || context.isNeeded ? rows.map((row) => row.field.value() ?? null) : undefined),
    mark: (path, words) => {
      const row = path.length ? rows[Number(path[0])] : null;
      if (row) row.field.mark(path.slice(1), words);
      else {
        note.textContent = `${name} ${words}.`;
        more.setAttribute("aria-invalid", "true");
      }
    },
  };
}

/** One of several schemas: which one, and its fields. */
function choiceField(schema, root, context) {
  const choices = (schema.oneOf || schema.anyOf).map((part) => resolve(part, root)).filter((part) => part.type !== "null");
  const control = h("select", null, choices.map((part, i) => h("option", { value: String(i) }, part.title || part.type || `Choice ${i + 1}`)));
  const own = labelled(schema, context, freshId("field"), control);
  const place = h("div", { class: "choice" });
  let field = null;
  const choose = (value) => {
    field = makeField(choices[Number(control.value) || 0] || {}, root, { ...context, isTop: false, depth: context.depth + 1, name: undefined, label: context.name });
    if (value !== undefined) field.set(value);
    replace(place, field.node);
  };
  control.addEventListener("change", () => {
    choose();
    context.changed();
  });
  if (choices.length < 2) own.node.hidden = true;
  choose();
  const set = (value) => {
    const fit = choices.findIndex((part) => value !== undefined && !check(part, value, root).length);
    if (fit >= 0) control.value = String(fit);
    choose(value);
  };
  return { node: h("div", { class: "choices" }, own.node, place), value: () => field.value(), set,
    mark: (path, words) => field.mark(path, words) };
}

const MAKERS = { object: objectField, array: arrayField, enum: enumField, choice: choiceField, boolean: booleanField,
  integer: numberField, number: numberField, string: textField, json: jsonField };
