// A form's button that starts jobs, and the view of the last one.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { sayError } from "./notice.js";
import { RunView } from "./run_view.js";

/** send: gives the new job; undefined where the form is not good yet. */
export function starter(kind, words, send) {
  const place = h("div", { class: "run-place" });
  let run = null;
  let isSending = false;
  const show = (id) => {
    run?.leave();
    run = new RunView(kind, id);
    replace(place, run.node);
  };
  const submit = async (event) => {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    try {
      const job = await send();
      if (job) show(job.id);
    } catch (error) {
      sayError(error);
    } finally {
      isSending = false;
    }
  };
  // The second click of a double click is no second wish, also where the first was answered between them.
  const once = (event) => event.detail > 1 && event.preventDefault();
  return { place, show, submit, buttons: h("div", { class: "buttons" }, h("button", { class: "primary", onclick: once }, icon("play"), words)) };
}
