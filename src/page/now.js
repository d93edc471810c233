// What runs and waits, what has ended, and the last hour.

import { api } from "./api.js";
import { h, newest, replace, steadily, table } from "./dom.js";
import { icon } from "./icons.js";
import { live } from "./live.js";
import { emptyState, errorCard, sayError } from "./notice.js";
import { Plot } from "./plot.js";
import { ago, fullTime, size, span } from "./time.js";
import { Timeline } from "./timeline.js";

const SHOWN = 200;
const HISTORY_MS = 10000;

const isLive = (job) => job.state === "waiting" || job.state === "running";

const nameCell = (job) => h("td", null, h("a", { href: `#now/${job.id}` }, job.name), job.session && h("div", { class: "dim small" }, job.session));
const layers = (job) => (job.sandbox?.length ? job.sandbox.join(", ") : job.sandbox ? "none" : "");

/** How long it has been in its state. */
const age = (job) => span(Date.now() - (job.started || job.created) * 1000);

export class Now {
  /** until: the signal that ends it. */
  constructor(until) {
    this.jobs = [];
    this.newest = newest();
    this.waitPlot = new Plot("Latency of jobs", [{ label: "mean", kind: "a" }, { label: "slowest", kind: "b" }], (us) => (us === null ? "–" : span(us / 1000)));
    this.jobPlot = new Plot("Jobs", [{ label: "running", kind: "a" }, { label: "waiting", kind: "b" }, { label: "ended", kind: "c" }], (n) => (n === null ? "–" : String(n)));
    this.memoryPlot = new Plot("Memory", [{ label: "server", kind: "a" }, { label: "kept events", kind: "b" }], (bytes) => (bytes === null ? "–" : size(bytes)));
    this.live = h("section", { "aria-live": "polite" });
    this.spares = h("section");
    this.past = h("section");
    this.plots = h("div", { class: "plots" }, this.waitPlot.node, this.jobPlot.node, this.memoryPlot.node);
    this.overview = h("div", { class: "stack" }, this.live, this.spares, h("section", null, h("h2", null, "The last hour"), this.plots), this.past);
    this.detail = h("div", { hidden: true });
    this.node = h("div", { class: "panel" }, h("header", { class: "panel-head" }, h("h1", null, "Now")), this.overview, this.detail);
    const refresh = steadily(150, () => this.timer && this.read());
    live.addEventListener("events", ({ detail }) => detail.some((event) => ["start", "end", "approval", "permission", "prompt", "confirm", "select", "multi_select", "withdraw"].includes(event.event)) && refresh(), { signal: until });
    live.addEventListener("state", ({ detail }) => detail.state === "open" && refresh(), { signal: until });
  }

  enter([id]) {
    this.leave();
    this.overview.hidden = Boolean(id);
    this.detail.hidden = !id;
    if (id) {
      this.timeline = new Timeline(id);
      replace(this.detail, this.timeline.node);
      return;
    }
    this.timer = setInterval(() => this.tick(), 1000);
    this.read();
    this.readHistory();
  }

  leave() {
    clearInterval(this.timer);
    this.timer = 0;
    this.timeline?.leave();
    this.timeline = null;
  }

  tick() {
    for (const cell of this.overview.querySelectorAll("[data-since]")) cell.textContent = span(Date.now() - Number(cell.dataset.since));
    this.ticks = (this.ticks || 0) + 1;
    if (this.ticks % 5 === 0 && this.jobs.some(isLive)) this.read();
    else if (this.ticks % 5 === 0) this.readSpares();
    if (Date.now() - (this.historyRead || 0) > HISTORY_MS) this.readHistory();
  }

  async read() {
    try {
      const now = await this.newest(api.now());
      if (!now) return;
      this.jobs = now.jobs;
      this.drawLive();
      this.drawSpares(now.spares);
      this.drawPast();
    } catch (error) {
      if (error.status !== 0 && error.status !== 401) replace(this.live, errorCard("The jobs cannot be read", error, () => this.read()));
    }
  }

  /** They come and go without an event. The rest stays as it is, with what has the focus. */
  async readSpares() {
    const now = await this.newest(api.now().catch(() => undefined));
    if (now) this.drawSpares(now.spares);
  }

  async readHistory() {
    this.historyRead = Date.now();
    const { samples } = await api.history().catch(() => ({ samples: [] }));
    const times = samples.map((sample) => sample.time);
    const ended = samples.map((sample, i) => (i ? Math.max(0, sample.ended - samples[i - 1].ended) : 0));
    const or = (value, i) => (ended[i] ? value : null);
    this.waitPlot.set(times, [samples.map((sample, i) => or(sample.mean_us, i)), samples.map((sample, i) => or(sample.slowest_us, i))]);
    this.jobPlot.set(times, [samples.map((sample) => sample.running), samples.map((sample) => sample.waiting), ended]);
    this.memoryPlot.set(times, [samples.map((sample) => sample.memory_bytes), samples.map((sample) => sample.kept_bytes)]);
  }

  drawLive() {
    const jobs = this.jobs.filter(isLive);
    const running = jobs.filter((job) => job.state === "running").length;
    replace(this.live, h("h2", null, jobs.length ? `${running} running, ${jobs.length - running} waiting` : "Running and waiting"),
      jobs.length ? table("Running and waiting", ["Job", "Kind", "State", "By", "Sandbox", "For", ""], jobs.map((job) => h("tr", null, nameCell(job), h("td", null, job.kind),
        h("td", null, h("span", { class: `chip ${job.state}` }, job.state === "waiting" ? `waiting, ${job.position || 1}.` : job.questions?.length ? "asks" : "running")),
        h("td", null, job.user), h("td", null, layers(job)), h("td", { "data-since": String((job.started || job.created) * 1000) }, age(job)),
        h("td", null, h("button", { type: "button", class: "quiet", "aria-label": `Cancel ${job.name}`, title: "Cancel", onclick: () => api.cancel(job.id).then(() => this.read(), sayError) }, icon("stop"))))))
        : h("p", { class: "dim" }, "Nothing runs at this moment."));
  }

  /** What was started and waits for a call or a turn. */
  drawSpares(spares = []) {
    replace(this.spares, spares.length > 0 && [h("h2", null, "Ready for the next call or turn"),
      table("Spares", ["Process of", "Kind", "State", "Sandbox", "For"], spares.map((spare) => h("tr", null, h("td", null, spare.name), h("td", null, spare.kind),
        h("td", null, h("span", { class: "chip" }, spare.state)), h("td", null, layers(spare)),
        h("td", { "data-since": String(Date.now() - spare.waits * 1000) }, span(spare.waits * 1000)))))]);
  }

  drawPast() {
    const jobs = this.jobs.filter((job) => !isLive(job)).slice(0, SHOWN);
    replace(this.past, h("h2", null, "Ended"), jobs.length
      ? table("Ended jobs", ["Job", "Kind", "Verdict", "By", "Sandbox", "When", "Took"], jobs.map((job) => h("tr", null, nameCell(job), h("td", null, job.kind),
        h("td", null, h("span", { class: `chip ${job.state}` }, job.state)), h("td", null, job.user), h("td", null, layers(job)),
        h("td", { title: fullTime(job.ended) }, ago(job.ended)), h("td", null, job.started ? span((job.ended - job.started) * 1000) : "–"))))
      : emptyState("now", "Nothing has run within the last hour", "Turns, runs and calls of every client appear here as they happen."));
  }
}
