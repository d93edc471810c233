// What a program has printed, with its colours.

import { h, replace } from "./dom.js";
import { parseAnsi } from "./ansi.js";

const SHOWN_MAX = 200000; // characters: the end of more

function piece({ text, fg, bg, on }) {
  if (fg === null && bg === null && !on.length) return text;
  const names = on.map((name) => `ansi-${name}`);
  if (typeof fg === "number") names.push(`ansi-fg${fg}`);
  if (typeof bg === "number") names.push(`ansi-bg${bg}`);
  const node = h("span", { class: names.join(" ") }, text);
  if (typeof fg === "string") node.style.color = fg;
  if (typeof bg === "string") node.style.backgroundColor = bg;
  return node;
}

export function outputView(text, label = "Output") {
  const node = h("pre", { class: "output", dir: "auto", tabindex: "0", "aria-label": label });
  node.set = (now) => {
    if (now === node.shown) return;
    node.shown = now;
    const tail = now.slice(-SHOWN_MAX);
    replace(node, tail.length < now.length && h("span", { class: "dim" }, "… the beginning is not shown\n"), parseAnsi(tail).map(piece));
  };
  node.set(text);
  return node;
}
