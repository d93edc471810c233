// A run of a plugin, or a call of a tool: its output, logs, progress, questions and end, as they come.

import { api } from "./api.js";
import { h, replace, steadily } from "./dom.js";
import { icon } from "./icons.js";
import { watchJob, watchPosition } from "./live.js";
import { jsonView } from "./json_view.js";
import { sayError } from "./notice.js";
import { outputView } from "./output.js";
import { questionCard } from "./question.js";
import { failureCard } from "./reply.js";
import { span } from "./time.js";
import { failure, hear, newState } from "./turn.js";
import { world } from "./world.js";

const DRAW_MS = 80;

function outputPart(part) {
  const node = outputView(part.text);
  node.update = () => node.set(part.text);
  return node;
}

function logPart(part) {
  const node = h("p", { class: `log log-${/^(debug|info|warn|warning|error)$/.test(part.level) ? part.level : "info"}`, dir: "auto" },
    h("span", { class: "chip" }, part.level || "log"), part.text);
  node.update = () => {};
  return node;
}

function progressPart(part) {
  const bar = h("progress", { "aria-label": part.message || "Progress" });
  const words = h("span", { dir: "auto" });
  const node = h("div", { class: "progress" }, words, bar);
  node.update = () => {
    const has = typeof part.current === "number" && part.total > 0;
    words.textContent = `${part.message || "Working"}${has ? ` — ${part.current} of ${part.total}` : ""}`;
    if (part.done) {
      bar.max = 1;
      bar.value = 1;
    } else if (has) {
      bar.max = part.total;
      bar.value = part.current;
    }
  };
  return node;
}

const PARTS = { output: outputPart, text: outputPart, log: logPart, progress: progressPart, ask: (part, run) => questionCard(run.job, part.ask, () => run.owner) };

export class RunView {
  /** ended(state) once. */
  constructor(kind, job, ended = () => {}) {
    this.state = Object.assign(newState(kind), { job });
    this.job = job;
    this.owner = world.user.name; // until the server says otherwise
    this.ended = ended;
    this.parts = [];
    this.body = h("div", { class: "run-body", "aria-live": "polite", "aria-atomic": "false" });
    this.tail = h("div", { class: "run-tail" });
    this.cancel = h("button", { type: "button", onclick: () => api.cancel(job).catch(sayError) }, icon("stop"), "Stop the run");
    this.node = h("section", { class: "run", "aria-label": "Run" }, this.body, this.tail, h("div", { class: "buttons" }, this.cancel));
    this.draw = steadily(DRAW_MS, () => this.drawNow());
    this.ends = [watchJob(job, (events) => this.hear(events)), watchPosition(job, (position, owner) => {
      this.owner = owner;
      this.state.position = position;
      this.draw();
    })];
    this.drawNow();
  }

  hear(events) {
    for (const event of events) hear(this.state, event);
    this.draw();
    if (this.state.end) {
      this.leave();
      this.ended(this.state);
    }
  }

  drawNow() {
    const { state } = this;
    state.parts.filter((part) => Object.hasOwn(PARTS, part.type)).forEach((part, i) => {
      if (!this.parts[i]) {
        this.parts[i] = PARTS[part.type](part, this);
        this.body.append(this.parts[i]);
        if (part.type === "ask" && !part.ask.answer) this.parts[i].querySelector("input, button")?.focus();
      }
      this.parts[i].update();
    });
    this.cancel.hidden = Boolean(state.end);
    const now = [state.phase, state.position, state.warnings.length, Boolean(state.end), Boolean(state.result), state.asks.filter((ask) => !ask.answer).length].join();
    if (now === this.drawnTail) return;
    this.drawnTail = now;
    replace(this.tail, state.warnings.map((words) => h("p", { class: "warning", dir: "auto" }, icon("warn"), words)), this.outcome());
  }

  outcome() {
    const { state } = this;
    if (!state.end) {
      if (state.asks.some((ask) => !ask.answer)) return null;
      return h("p", { class: "busy", role: "status" }, h("span", { class: "spinner" }),
        state.position > 1 ? `${state.position - 1} before it in the queue` : "It runs …");
    }
    const found = state.result ? null : failure(state);
    const took = state.end.duration_ms !== undefined ? span(state.end.duration_ms) : "";
    return [state.result && this.result(state.result), found && failureCard(found),
      !found && !state.result && h("p", { class: "ended" }, icon("check"), `Done${took ? ` in ${took}` : ""}`)];
  }

  /** A tool's. */
  result(result) {
    const facts = [result.duration_ms !== undefined && span(result.duration_ms), result.used_spare ? "from a spare that was ready" : "started for this call",
      result.reach && `reach ${result.reach}`].filter(Boolean).join(" · ");
    const value = result.output ?? result.result ?? result.content;
    return [h("p", { class: result.ok ? "ended" : "ended bad", role: "status" }, icon(result.ok ? "check" : "warn"), result.ok ? "Done" : result.code || "It failed",
      h("span", { class: "usage" }, facts)),
    !result.ok && h("p", { dir: "auto" }, result.message), result.hint && h("p", { class: "dim", dir: "auto" }, result.hint),
    value !== undefined && value !== null && jsonView(value, "Result"),
    result.stderr_tail && h("details", null, h("summary", null, "What it wrote to stderr"), h("pre", { class: "output", dir: "ltr", tabindex: "0" }, result.stderr_tail)),
    h("details", null, h("summary", null, "The whole answer"), jsonView(result, "Answer"))];
  }

  leave() {
    for (const end of this.ends) end();
    this.ends = [];
  }
}
