// The events of one job, as a readable line of time.

import { h, newest, replace } from "./dom.js";
import { icon } from "./icons.js";
import { api } from "./api.js";
import { jsonView } from "./json_view.js";
import { watchJob } from "./live.js";
import { join } from "./moments.js";
import { errorCard, sayError } from "./notice.js";
import { questionCard } from "./question.js";
import { fullTime, span } from "./time.js";
import { usageWords } from "./turn.js";

const short = (text, most = 600) => (text && text.length > most ? `${text.slice(0, most)} …` : text || "");

/** event: [icon, title, what it says] */
const WORDS = {
  start: (event) => ["play", "It began", event.session_name ? `session ${event.session_name}` : event.command || [event.binding, event.tool].filter(Boolean).join("/")],
  partial: (event) => ["chat", "Said", event.text],
  reply: (event) => ["chat", "Replied", event.text],
  thinking: (event) => ["chat", "Thought", event.text],
  output: (event) => ["chat", "Printed", event.text],
  stderr: (event) => ["warn", "Wrote to stderr", event.text],
  log: (event) => ["chat", `Log (${event.level})`, event.message],
  progress: (event) => ["now", "Progress", event.done ? "done" : `${event.message || ""} ${event.total ? `${event.current} of ${event.total}` : ""}`],
  usage: (event) => ["now", "Usage", usageWords(event.usage) || JSON.stringify(event.usage)],
  warning: (event) => ["warn", "Warning", event.message],
  error: (event) => ["warn", "Error", event.message],
  tool: ({ tool }) => ["tools", "Used a tool", [tool?.title, tool?.status].filter(Boolean).join(": ")],
  plan: ({ plan }) => ["check", "Planned", (Array.isArray(plan?.entries) ? plan.entries : []).map((one) => one?.content).join("; ")],
  withdraw: () => ["check", "No longer asked", ""],
  result: (event) => [event.result?.ok ? "check" : "warn", "Result", event.result?.ok ? "" : event.result?.message],
  store: (event) => ["plugins", "Stored", event.key],
  load: (event) => ["plugins", "Loaded", event.key],
  exec: (event) => ["play", "Ran a command", event.command],
  session: (event) => ["chat", "Session", event.session_id],
  end: (event) => [event.success ? "check" : "warn", event.success ? "It ended well" : event.cancelled ? "It was cancelled" : "It ended badly",
    [event.duration_ms !== undefined && span(event.duration_ms), event.exit_code > 0 && `exit code ${event.exit_code}`, event.sandbox?.length && `sandbox: ${event.sandbox.join(", ")}`,
      event.reach && `reach: ${event.reach}`, event.background_ended > 0 && `${event.background_ended} processes left behind were ended`].filter(Boolean).join(" · ")],
};

function entry(event) {
  const [picture, title, words] = (WORDS[event.event] || ((one) => ["now", one.event, ""]))(event);
  const rest = Object.hasOwn(WORDS, event.event) ? null : jsonView(Object.fromEntries(Object.entries(event).filter(([name]) => !["job", "id", "number", "event"].includes(name))), title);
  return h("li", { class: `moment moment-${Object.hasOwn(WORDS, event.event) ? event.event : "other"}` }, icon(picture), h("div", null, h("b", null, title), words && h("p", { dir: "auto" }, short(words)), rest));
}

export class Timeline {
  constructor(id) {
    this.id = id;
    this.events = [];
    this.newest = newest();
    this.cards = new Map(); // of questions, by their number
    this.head = h("div");
    this.list = h("ol", { class: "timeline", "aria-label": "What happened" });
    this.asks = h("div", { class: "stack" });
    this.node = h("div", { class: "stack" }, h("a", { class: "button plain", href: "#now" }, icon("back"), "All jobs"), this.head, this.asks, this.list);
    this.end = watchJob(id, (events) => this.hear(events));
    this.read();
  }

  async read() {
    try {
      const job = await this.newest(api.job(this.id));
      if (!job) return;
      const isOver = !["waiting", "running"].includes(job.state);
      replace(this.head, h("div", { class: "card" }, h("p", { class: "card-title" }, job.name, h("span", { class: "chip" }, job.kind), h("span", { class: `chip ${job.state}` }, job.state)),
        h("p", { class: "dim" }, [`by ${job.user}`, job.session && `session ${job.session}`, fullTime(job.created), job.started && job.ended && `ran ${span((job.ended - job.started) * 1000)}`,
          job.started && `waited ${span((job.started - job.created) * 1000)}`].filter(Boolean).join(" · ")),
        job.request?.message && h("p", { class: "said", dir: "auto" }, job.request.message),
        !isOver && h("button", { type: "button", onclick: () => api.cancel(this.id).then(() => this.read(), sayError) }, icon("stop"), "Cancel")));
      this.drawAsks(job.questions || [], job.user);
    } catch (error) {
      replace(this.head, errorCard("This job cannot be shown", error.status === 404 ? { message: "It is older than what the server keeps, or it is somebody else's.", hint: "[serve] keep says for how long jobs are kept." } : error));
    }
  }

  /** Those that were there stay: somebody may be filling them in. */
  drawAsks(questions, owner) {
    for (const [number, card] of this.cards) if (!questions.some((ask) => ask.ask === number)) card.remove();
    for (const ask of questions) {
      if (this.cards.has(ask.ask)) continue;
      this.cards.set(ask.ask, questionCard(this.id, { ...ask, answer: null }, () => owner));
      this.asks.append(this.cards.get(ask.ask));
    }
  }

  hear(events) {
    this.events.push(...events);
    replace(this.list, join(this.events).map(entry));
    if (events.some((event) => event.ask !== undefined || event.event === "end" || event.event === "start")) this.read();
  }

  leave() {
    this.end();
  }
}
