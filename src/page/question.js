// Questions as cards: of plugins (text, yes or no, one of a list, some of a list), permissions of agents
// with their own options, approvals of tools, and forms.

import { api } from "./api.js";
import { h, replace, freshId } from "./dom.js";
import { icon } from "./icons.js";
import { jsonView } from "./json_view.js";
import { sayError } from "./notice.js";
import { SchemaForm } from "./schema_form.js";
import { isAdmin, mayApprove } from "./world.js";

const FILTER_FROM = 8; // options: fewer are seen at a glance
const OPTIONS_SHOWN = 200;

const VALIDATES = {
  non_empty: (text) => text.trim() !== "" || "Please enter something.",
  integer: (text) => /^\s*[+-]?\d+\s*$/.test(text) || "Please enter a whole number.",
  url: (text) => /^https?:\/\/\S+$/.test(text.trim()) || "Please enter a web address such as https://example.org.",
};

/** A card for a question of a job. owner(): whose job it is, as far as that is known. */
export function questionCard(job, ask, owner) {
  const card = h("section", { class: "card question", "aria-label": "Question" });
  const give = async (body, words) => {
    for (const field of card.querySelectorAll("button, input, textarea, select")) field.disabled = true;
    try {
      await api.answer(job, ask.ask, body);
      ask.answer = { words };
      draw();
    } catch (error) {
      if (error.code === "answered") {
        ask.answer = { words: "answered elsewhere" };
        draw();
        return;
      }
      for (const field of card.querySelectorAll("[disabled]")) field.disabled = false;
      sayError(error);
    }
  };
  const draw = () => {
    card.classList.toggle("settled", Boolean(ask.answer));
    if (ask.answer) replace(card, settled(ask));
    else replace(card, (KINDS[ask.event] || other)(ask, give, owner()));
  };
  let drawn = "";
  card.update = () => { // what is being filled in stays
    const now = `${Boolean(ask.answer)} ${ask.event === "approval" && owner()}`;
    if (now === drawn) return;
    drawn = now;
    draw();
  };
  card.update();
  return card;
}

function settled(ask) {
  const words = ask.answer.words ?? (ask.answer.withdrawn ? "no longer asked" : "not answered");
  return h("p", { class: "answered", dir: "auto" }, icon("check"), h("span", null, ask.message || ask.tool_name || "A question"),
    h("b", null, words));
}

const title = (ask) => h("p", { class: "card-title", dir: "auto" }, ask.message || "A question");
const buttons = (...list) => h("div", { class: "buttons" }, ...list);
const cancelButton = (give) =>
  h("button", { type: "button", class: "plain", onclick: () => give({ cancel: true }, "cancelled") }, "Cancel");

/* ---- plugins ---------------------------------------------------------------------------- */

function prompt(ask, give) {
  const id = freshId("prompt");
  const input = h("input", { id, type: "text", value: ask.default ?? "", autocomplete: "off", dir: "auto",
    "aria-describedby": `${id}-note` });
  const note = h("p", { id: `${id}-note`, class: "field-error", role: "alert" });
  return h("form", { onsubmit: (event) => {
    event.preventDefault();
    const good = VALIDATES[ask.validate]?.(input.value) ?? true;
    note.textContent = good === true ? "" : good;
    if (good === true) give({ value: input.value }, input.value || "(nothing)");
  } }, h("label", { for: id, class: "card-title", dir: "auto" }, ask.message), input, note,
  buttons(h("button", { class: "primary" }, "Answer"), cancelButton(give)));
}

function confirm(ask, give) {
  const answer = (value) => h("button", { type: "button", class: value === ask.default ? "primary" : "",
    onclick: () => give({ value }, value ? "Yes" : "No") }, value ? "Yes" : "No");
  return [title(ask), buttons(answer(true), answer(false), cancelButton(give))];
}

/** Options with a filter; `chosen` is the set of their numbers. */
function optionList(ask, type, chosen, changed) {
  const group = freshId("options");
  const list = h("div", { class: "options", role: type === "radio" ? "radiogroup" : "group", "aria-label": ask.message });
  const draw = (words) => {
    const found = ask.options.map((text, i) => [text, i]).filter(([text]) => text.toLowerCase().includes(words.toLowerCase()));
    replace(list, found.slice(0, OPTIONS_SHOWN).map(([text, i]) => h("label", { class: "option" },
      h("input", { type, name: group, checked: chosen.has(i), onchange: (event) => {
        if (type === "radio") chosen.clear();
        if (event.target.checked) chosen.add(i);
        else chosen.delete(i);
        changed();
      } }), h("span", { dir: "auto" }, text))),
    found.length > OPTIONS_SHOWN && h("p", { class: "dim" }, `${found.length - OPTIONS_SHOWN} more: filter to see them`),
    !found.length && h("p", { class: "dim" }, "Nothing fits the filter."));
  };
  draw("");
  const filter = ask.options.length >= FILTER_FROM && h("input", { type: "search", placeholder: "Filter",
    "aria-label": "Filter the options", oninput: (event) => draw(event.target.value) });
  return [filter, list];
}

function select(ask, give) {
  const chosen = new Set(ask.default === undefined ? [] : [ask.default]);
  const done = h("button", { class: "primary", disabled: !chosen.size }, "Choose");
  const send = (event) => {
    event.preventDefault();
    const [value] = chosen;
    if (value !== undefined) give({ value }, ask.options[value]);
  };
  return h("form", { onsubmit: send }, title(ask), optionList(ask, "radio", chosen, () => { done.disabled = false; }),
    buttons(done, cancelButton(give)));
}

function multiSelect(ask, give) {
  const chosen = new Set(ask.defaults || []);
  const done = h("button", { class: "primary" });
  const count = () => { done.textContent = chosen.size ? `Choose these ${chosen.size}` : "Choose none"; };
  count();
  const send = (event) => {
    event.preventDefault();
    const value = [...chosen].sort((a, b) => a - b);
    give({ value }, value.map((i) => ask.options[i]).join(", ") || "(none)");
  };
  return h("form", { onsubmit: send }, title(ask), optionList(ask, "checkbox", chosen, count),
    buttons(done, cancelButton(give)));
}

/* ---- agents and tools ----------------------------------------------------------------------- */

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function wish(ask, words) {
  return [h("p", { class: "card-title", dir: "auto" }, icon("access"), words, h("code", { dir: "ltr" }, ask.tool_name || "")),
    ask.description && h("p", { dir: "auto" }, ask.description),
    ask.message && ask.message !== ask.tool_name && h("p", { dir: "auto" }, ask.message),
    ask.input !== null && ask.input !== undefined && jsonView(ask.input, "What it wants to do")];
}

function permission(ask, give) {
  const own = (ask.options || []).map((option) => h("button", { type: "button", class: option.kind === "allow_once" ? "primary" : "",
    onclick: () => give({ allow: !/reject|deny/.test(option.kind || ""), option: option.id }, option.name || option.id) },
  capital(option.name || option.id)));
  const plain = [
    h("button", { type: "button", class: "primary", onclick: () => give({ allow: true }, "allowed") }, "Allow"),
    h("button", { type: "button", onclick: () => give({ allow: false }, "denied") }, "Deny"),
  ];
  return [wish(ask, "The agent asks to use "), buttons(own.length ? own : plain)];
}

function approval(ask, give, owner) {
  const choice = mayApprove(owner)
    ? buttons(h("button", { type: "button", class: "primary", onclick: () => give({ allow: true }, "approved") }, "Approve"),
      h("button", { type: "button", onclick: () => give({ allow: false }, "refused") }, "Refuse"))
    : h("p", { class: "dim" }, isAdmin() ? "You made this call, so somebody else has to approve it: another token of the role admin, or the link that perch serve prints."
      : "An admin has to approve this: by a token of the role admin, or in the page by the link that perch serve prints.");
  return [wish(ask, "Approve the call of "), choice];
}

function form(ask, give) {
  const schema = ask.input?.requestedSchema || ask.input?.schema || ask.input || { type: "object" };
  const fields = new SchemaForm(schema);
  const send = (event) => {
    event.preventDefault();
    if (fields.check()) give({ content: fields.value() }, "filled in");
  };
  return h("form", { onsubmit: send }, title(ask), fields.node,
    buttons(h("button", { class: "primary" }, "Send"), cancelButton(give)));
}

function other(ask, give) {
  return [title(ask), h("p", { class: "dim" }, `The page cannot answer a question of the kind “${ask.event}”.`), buttons(cancelButton(give))];
}

const KINDS = { prompt, confirm, select, multi_select: multiSelect, permission, approval, form };
