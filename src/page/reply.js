// A reply, drawn from the state of its turn: text, what the agent did, what it asks, how it ended.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { copyButton } from "./clipboard.js";
import { jsonView } from "./json_view.js";
import { MarkdownView } from "./markdown_view.js";
import { questionCard } from "./question.js";
import { span } from "./time.js";
import { failure, usageWords } from "./turn.js";
import { world } from "./world.js";

const STATUS = { pending: "waits", in_progress: "runs", running: "runs", completed: "done", done: "done", failed: "failed", error: "failed" };

/* ---- parts: each a node with update() ------------------------------------------------------------ */

function textPart(part) {
  const view = new MarkdownView();
  view.node.update = () => view.set(part.text);
  return view.node;
}

/** A change of a file, line by line. */
const diffText = (change) => [`--- ${change.path}`, ...String(change.oldText || "").split("\n").map((line) => `-${line}`),
  ...String(change.newText || "").split("\n").map((line) => `+${line}`)].join("\n");

function contentText(output) {
  if (!Array.isArray(output)) return output;
  const texts = output.map((item) => (item?.type === "diff" ? diffText(item) : item?.content?.text ?? item?.text));
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : output;
}

function planBody(part) {
  return h("ul", { class: "plan" }, part.entries.map((entry) => h("li", { class: `plan-${entry.status || "pending"}`, dir: "auto" },
    entry.content ?? entry.title ?? "", h("span", { class: "offscreen" }, ` ${STATUS[entry.status] || ""}`))));
}

function activityPart(part) {
  const summary = h("summary");
  const body = h("div", { class: "activity-body" });
  const node = h("details", { class: "card activity" }, summary, body);
  let drawn = "";
  node.update = () => {
    const now = JSON.stringify(part);
    if (now === drawn) return;
    drawn = now;
    const status = STATUS[part.status] || part.status || "";
    node.classList.toggle("is-busy", status === "runs" || status === "waits");
    node.classList.toggle("has-failed", status === "failed");
    replace(summary, icon("tools"), h("span", { class: "activity-title", dir: "auto" }, part.title || part.kind || "Tool"),
      status && h("span", { class: "chip" }, status));
    replace(body, part.entries && planBody(part),
      part.input !== undefined && jsonView(part.input, "Input"),
      part.output !== undefined && jsonView(contentText(part.output), "Output"),
      part.entries || part.input !== undefined || part.output !== undefined ? null : h("p", { class: "dim" }, "The agent tells no more about it."));
    if (part.entries) node.open = true;
  };
  return node;
}

function askPart(part, job) {
  return questionCard(job, part.ask, () => world.user.name);
}

const PARTS = { text: textPart, output: textPart, activity: activityPart, ask: askPart };

/* ---- the whole ------------------------------------------------------------------------------------- */

export function failureCard(found) {
  return h("div", { class: found.isMild ? "card mild" : "card error-card", role: found.isMild ? null : "alert" },
    h("p", { class: "card-title" }, icon(found.isMild ? "stop" : "warn"), found.title),
    found.message && h("p", { dir: "auto" }, found.message),
    found.hint && h("p", { class: "dim", dir: "auto" }, found.hint),
    found.stderr && h("details", null, h("summary", null, "What it wrote to stderr"),
      h("pre", { dir: "ltr", tabindex: "0" }, found.stderr)));
}

export class ReplyView {
  /** actions: { retry } */
  constructor(state, who, actions) {
    this.state = state;
    this.actions = actions;
    this.parts = [];
    this.thinking = h("pre", { class: "thinking-text", dir: "auto" });
    this.thinkingBox = h("details", { class: "thinking", hidden: true }, h("summary", null, "Thinking"), this.thinking);
    this.body = h("div", { class: "reply-body" });
    this.foot = h("div", { class: "reply-foot" });
    this.tail = h("div", { class: "reply-tail" });
    this.node = h("article", { class: "row reply", "aria-label": `Reply of ${who}` },
      h("div", { class: "bubble" }, h("p", { class: "who" }, who), this.thinkingBox, this.body, this.tail, this.foot));
    this.draw();
  }

  reset(state) {
    this.state = state;
    this.parts = [];
    this.hasFoot = false;
    replace(this.body);
    replace(this.foot);
    this.draw();
  }

  draw() {
    const { state } = this;
    this.thinkingBox.hidden = !state.thinking;
    if (this.thinking.textContent.length !== state.thinking.length) this.thinking.textContent = state.thinking;
    const shown = state.parts.filter((part) => Object.hasOwn(PARTS, part.type));
    shown.forEach((part, i) => {
      if (!this.parts[i]) {
        this.parts[i] = PARTS[part.type](part, state.job);
        this.body.append(this.parts[i]);
      }
      this.parts[i].update();
    });
    this.drawTail();
    this.drawFoot();
  }

  drawTail() {
    const { state } = this;
    const now = [state.phase, state.position, state.warnings.length, Boolean(state.end), Boolean(state.text), Boolean(state.job)].join();
    if (now === this.drawnTail) return;
    this.drawnTail = now;
    this.node.setAttribute("aria-busy", String(!state.end));
    const found = failure(state);
    replace(this.tail,
      state.warnings.map((words) => h("p", { class: "warning", dir: "auto" }, icon("warn"), words)),
      found && failureCard(found), this.waiting());
  }

  waiting() {
    const { state } = this;
    if (state.end) return state.text || state.parts.length || failure(state) ? null : h("p", { class: "dim" }, "The agent said nothing.");
    if (state.phase === "waiting")
      return h("p", { class: "busy", role: "status" }, h("span", { class: "spinner" }),
        !state.job ? "Sending …" : state.position > 1 ? `${state.position - 1} before it in the queue` : "It is next");
    if (state.text) return null; // the text itself shows that it is at work, and a picture that moves costs more than the text
    return h("p", { class: "typing", role: "status" }, h("span", { class: "offscreen" }, "The agent is at work"), h("i"), h("i"), h("i"));
  }

  drawFoot() {
    const { state } = this;
    if (!state.end || this.hasFoot) return;
    this.hasFoot = true;
    const words = [usageWords(state.usage), state.end.duration_ms !== undefined && span(state.end.duration_ms)].filter(Boolean).join(" · ");
    replace(this.foot, state.text && copyButton(() => state.text, "Copy the reply"),
      h("button", { type: "button", class: "quiet", title: "Ask again", "aria-label": "Ask again", onclick: this.actions.retry }, icon("retry")),
      h("span", { class: "usage" }, words));
  }
}

/** What the user said. */
export function userRow(text, attachments, actions) {
  return h("article", { class: "row user", "aria-label": "You" },
    h("div", { class: "bubble" },
      attachments.length > 0 && h("ul", { class: "attached" }, attachments.map((file) => h("li", null,
        file.url?.startsWith("data:image/") && !file.url.startsWith("data:image/svg") ? h("img", { src: file.url, alt: file.name }) : icon("clip"), h("span", null, file.name)))),
      h("p", { class: "said", dir: "auto" }, text)),
    h("div", { class: "reply-foot" },
      h("button", { type: "button", class: "quiet", title: "Edit and send again", "aria-label": "Edit and send again", onclick: actions.edit }, icon("edit")),
      copyButton(() => text, "Copy the message")));
}
