// JSON, pretty-printed and coloured, folded where it is long.

import { h } from "./dom.js";
import { copyButton } from "./clipboard.js";
import { viewTokens } from "./markdown_view.js";

const OPEN_LINES = 40;

export function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "null";
}

export function jsonView(value, label) {
  const text = pretty(value);
  const isJson = typeof value !== "string";
  const body = h("pre", { dir: "ltr", tabindex: "0", "aria-label": label }, h("code", null, viewTokens(text, isJson ? "json" : "")));
  const isLong = text.split("\n").length > OPEN_LINES;
  return h("figure", { class: "code" },
    h("figcaption", null, h("span", null, label), copyButton(() => text, `Copy: ${label}`)),
    isLong ? h("details", null, h("summary", null, `${text.split("\n").length} lines`), body) : body);
}
