// Replies for screen readers: what is settled of a stream is said in whole sentences, once.

import { h } from "./dom.js";

const EVERY_MS = 1500;
const KEPT = 20;

let place = null;
let last = 0;

export function announcer() {
  place = h("div", { class: "offscreen", "aria-live": "polite", "aria-atomic": "false", role: "log", "aria-label": "Replies" });
  return place;
}

/** The end of the last whole sentence behind `from`. */
export function sentenceEnd(text, from) {
  const found = Math.max(text.lastIndexOf("\n"), text.lastIndexOf(". "), text.lastIndexOf("? "), text.lastIndexOf("! "));
  return found >= from ? found + 1 : from;
}

export function announce(who, state) {
  const from = state.announced || 0;
  if (!place || state.isQuiet || document.hidden) return;
  if (!state.end && performance.now() - last < EVERY_MS) return;
  const until = state.end ? state.text.length : sentenceEnd(state.text, from);
  if (until <= from) return;
  last = performance.now();
  state.announced = until;
  place.append(h("p", null, from ? "" : `${who}: `, state.text.slice(from, until)));
  while (place.childElementCount > KEPT) place.firstElementChild.remove();
}
