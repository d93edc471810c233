// A button that copies.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { say } from "./notice.js";

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Pages that came without TLS from another machine have no clipboard of their own. */
function copyBySelection(text) {
  const area = h("textarea", { class: "offscreen", "aria-hidden": "true", value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export function copyButton(text, label) {
  const button = h("button", { class: "quiet", type: "button", title: label, "aria-label": label }, icon("copy"));
  button.addEventListener("click", async () => {
    const done = await copy(text());
    say(done ? "Copied" : "The browser does not let the page copy: select the text instead");
    if (!done) return;
    replace(button, icon("check"));
    setTimeout(() => replace(button, icon("copy")), 1500);
  });
  return button;
}
