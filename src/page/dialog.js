// A question of the page itself.

import { h, freshId } from "./dom.js";

/** With a label: the text that was entered. Without: true. null: it was given up. */
export function ask({ title, words, label, value, yes, isDangerous }) {
  return new Promise((done) => {
    const id = freshId("dialog");
    const input = label && h("input", { id: `${id}-input`, type: "text", value, dir: "auto", maxlength: "150" });
    const dialog = h("dialog", { "aria-labelledby": id },
      h("form", { method: "dialog" }, h("h2", { id }, title), words && h("p", { dir: "auto" }, words),
        label && h("label", { for: `${id}-input` }, label), input,
        h("div", { class: "buttons" }, h("button", { value: "yes", class: isDangerous ? "danger" : "primary" }, yes),
          h("button", { value: "", type: "button", onclick: () => dialog.close("") }, "Cancel"))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue === "yes" ? input?.value ?? true : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    input?.select();
  });
}

export function tell(title, ...children) {
  const id = freshId("dialog");
  const dialog = h("dialog", { "aria-labelledby": id },
    h("form", { method: "dialog" }, h("h2", { id }, title), ...children, h("div", { class: "buttons" }, h("button", { class: "primary" }, "Close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
