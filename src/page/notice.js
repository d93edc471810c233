// Short words to the user, also for screen readers, and what went wrong with what to do about it.

import { h } from "./dom.js";
import { icon } from "./icons.js";

let place = null;

export function notices() {
  place = h("div", { class: "notices", role: "status", "aria-live": "polite" });
  return place;
}

export function say(text, kind = "info") {
  if (!place) return;
  const note = h("div", { class: `notice ${kind}` }, text);
  place.append(note);
  while (place.childElementCount > 3) place.firstElementChild.remove();
  setTimeout(() => note.remove(), kind === "error" ? 8000 : 2500);
}

export function sayError(error) {
  say(error.hint ? `${error.message}. ${error.hint}` : error.message, "error");
}

/** An error that stays: what, and what to do. */
export function errorCard(title, error, again) {
  return h("div", { class: "card error-card", role: "alert" },
    h("p", { class: "card-title" }, icon("warn"), title),
    h("p", null, error.message),
    error.hint && h("p", { class: "dim" }, error.hint),
    again && h("button", { type: "button", onclick: again }, "Try again"));
}

/** Nothing is here yet: what it is, and how something gets here. */
export function emptyState(picture, title, ...words) {
  return h("div", { class: "empty" }, icon(picture), h("h2", null, title), ...words.map((word) => h("p", null, word)));
}

export function busy(words) {
  return h("p", { class: "busy", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), words);
}
