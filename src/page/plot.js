// Small plots, as SVG: lines over time, with the value where the pointer or the keyboard is.

import { h, replace, svg } from "./dom.js";
import { clock } from "./time.js";

const WIDTH = 360;
const HEIGHT = 120;
const LEFT = 6;
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 20;

/** A round number at or above the most that is shown. */
export function roundUp(value) {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((times) => times * unit).find((round) => round >= value) ?? 10 * unit;
}

/** The d of a path through the values; null is a gap. */
export function pathOf(values, most) {
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, values.length - 1);
  const height = HEIGHT - TOP - BOTTOM;
  const isThere = (i) => values[i] !== null && values[i] !== undefined;
  return values.map((value, i) => {
    if (!isThere(i)) return "";
    const at = `${(LEFT + i * step).toFixed(1)} ${(TOP + height * (1 - value / most)).toFixed(1)}`;
    return isThere(i - 1) ? `L${at}` : isThere(i + 1) ? `M${at}` : `M${at}h2`; // alone: a dash
  }).join("");
}

export class Plot {
  /** series: [{ label, kind }]; words(value): it with its unit */
  constructor(title, series, words) {
    this.title = title;
    this.series = series;
    this.words = words;
    this.at = null;
    this.picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img", preserveAspectRatio: "none" });
    this.legend = h("p", { class: "legend" });
    this.ends = h("p", { class: "plot-ends" });
    this.frame = h("div", { class: "plot-frame", tabindex: "0", role: "slider", "aria-label": title, "aria-valuemin": "0",
      onpointermove: (event) => this.point(event), onpointerleave: () => this.mark(null), onblur: () => this.mark(null), onkeydown: (event) => this.key(event) }, this.picture);
    this.node = h("figure", { class: "card plot-card" }, h("figcaption", null, title), this.frame, this.ends, this.legend);
  }

  /** times: seconds; values: a list for each series. */
  set(times, values) {
    this.times = times;
    this.values = values;
    this.most = roundUp(Math.max(0, ...values.flat().filter((value) => value !== null)));
    this.draw();
  }

  point(event) {
    const box = this.frame.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    this.mark(Math.round(share * (this.times.length - 1)));
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.mark((this.at ?? this.times.length - 1) + steps[event.key]);
  }

  mark(at) {
    this.at = at === null ? null : Math.max(0, Math.min(this.times.length - 1, at));
    this.draw();
  }

  draw() {
    const last = this.times.length - 1;
    const at = this.at ?? last;
    const x = LEFT + (WIDTH - LEFT - RIGHT) * (last ? at / last : 0);
    const middle = TOP + (HEIGHT - TOP - BOTTOM) / 2;
    replace(this.picture,
      [TOP, middle, HEIGHT - BOTTOM].map((y) => svg("path", { class: "plot-grid", d: `M${LEFT} ${y}H${WIDTH - RIGHT}` })),
      this.series.map(({ kind }, i) => svg("path", { class: `plot-line plot-${kind}`, d: pathOf(this.values[i], this.most) })),
      this.at !== null && svg("path", { class: "plot-cursor", d: `M${x.toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}` }));
    const said = this.series.map(({ label }, i) => `${label} ${this.words(this.values[i][at] ?? null)}`);
    replace(this.legend, this.series.map(({ label, kind }, i) => h("span", { class: `key plot-${kind}` }, h("i"), `${label} `, h("b", null, this.words(this.values[i][at] ?? null)))));
    const mostWords = h("span", null, `most ${this.words(this.most)}`);
    replace(this.ends, h("span", null, this.times.length ? clock(this.times[0]) : ""), mostWords, h("span", null, this.times.length ? clock(this.times[at]) : ""));
    this.frame.setAttribute("aria-valuemax", String(Math.max(0, last)));
    this.frame.setAttribute("aria-valuenow", String(Math.max(0, at)));
    this.frame.setAttribute("aria-valuetext", this.times.length ? `${clock(this.times[at])}: ${said.join(", ")}` : "nothing yet");
    this.picture.setAttribute("aria-label", `${this.title}: ${said.join(", ")}`);
  }
}
