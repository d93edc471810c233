// What the server tells, for this tab: one stream for all tabs (a SharedWorker; where there is none,
// the tab that holds a lock reads it and the others listen), and jobs that are watched from their first
// event on.

import { api, send } from "./api.js";
import { EventStream, readStream } from "./stream.js";

/** Events: "state" (detail: the stream's state), "events" (detail: a list). */
export const live = new EventTarget();

let state = "connecting";
let order = () => {};

export const streamState = () => state;
export const hurry = () => order("hurry");

/** Nobody is signed in. */
export const rest = () => order("stop");

/** The user has changed. */
export const restart = () => order("restart");

function take(message) {
  if (message.state) {
    const before = state;
    state = message.state;
    live.dispatchEvent(new CustomEvent("state", { detail: { state, before } }));
    if (state === "open" && before !== "open") resync();
  }
  if (message.events) {
    live.dispatchEvent(new CustomEvent("events", { detail: message.events }));
    for (const event of message.events) for (const watch of watches.get(event.job) || []) watch.hear(event);
  }
}

/* ---- where the stream is ------------------------------------------------------------ */

function listenToWorker() {
  const worker = new SharedWorker("/page/stream_worker.js", { type: "module", name: "perch" });
  worker.port.addEventListener("message", ({ data }) => take(data));
  worker.port.start();
  order = (word) => worker.port.postMessage(word);
  order("hello");
  addEventListener("pagehide", () => order("bye"));
  addEventListener("pageshow", (event) => event.persisted && order("hello"));
}

/** Without SharedWorker: one tab has the lock and the stream, and says all it hears. */
function listenToTabs() {
  const channel = new BroadcastChannel("perch");
  let stream = null;
  const tell = (message) => {
    channel.postMessage(message);
    take(message);
  };
  const obey = (word) => {
    if (!stream) return;
    if (word === "hurry") stream.hurry();
    else if (word === "restart") stream.start();
    else if (word === "stop") stream.stop();
    else tell({ state: stream.state });
  };
  channel.addEventListener("message", ({ data }) => (data.order ? obey(data.order) : take(data)));
  order = (word) => {
    channel.postMessage({ order: word });
    obey(word);
  };
  const lead = () => {
    stream = new EventStream((events) => tell({ events }), (now) => tell({ state: now }));
    stream.start();
    return new Promise(() => {});
  };
  if (navigator.locks) navigator.locks.request("perch-stream", lead);
  else lead();
  order("hello");
}

export function listen() {
  if (typeof SharedWorker === "function") listenToWorker();
  else listenToTabs();
  addEventListener("online", hurry);
  document.addEventListener("visibilitychange", () => document.hidden || hurry());
}

/* ---- watched jobs ------------------------------------------------------------------- */

const watches = new Map();

class Watch {
  constructor(id, heard) {
    this.id = id;
    this.heard = heard;
    this.last = 0;
    this.waiting = null; // what comes while the events so far are read
    this.ended = false;
  }

  hear(event) {
    if (this.waiting) this.waiting.push(event);
    else this.pass([event]);
  }

  pass(events) {
    const fresh = events.filter((event) => event.number > this.last);
    if (!fresh.length) return;
    this.last = fresh[fresh.length - 1].number;
    this.ended = this.ended || fresh.some((event) => event.event === "end");
    this.heard(fresh);
  }

  /** All that has been told of it. */
  async catchUp() {
    if (this.waiting) return;
    this.waiting = [];
    const found = [];
    try {
      const fields = { Accept: "text/event-stream" };
      if (this.last) fields["Last-Event-ID"] = String(this.last);
      const answer = await send("GET", `/api/jobs/${encodeURIComponent(this.id)}/events?follow=no`, undefined, fields);
      await readStream(answer, (events) => found.push(...events));
    } catch {
      // the next connection tries again
    }
    const waiting = this.waiting;
    this.waiting = null;
    this.pass(found);
    this.pass(waiting);
  }
}

function resync() {
  for (const set of watches.values()) for (const watch of set) if (!watch.ended) watch.catchUp();
}

/** heard(events) with all events of a job, in order, each once. Returns what ends it. */
export function watchJob(id, heard) {
  const watch = new Watch(id, heard);
  if (!watches.has(id)) watches.set(id, new Set());
  watches.get(id).add(watch);
  watch.catchUp();
  return () => {
    watches.get(id)?.delete(watch);
    if (!watches.get(id)?.size) watches.delete(id);
  };
}

/** Its place in the queue, until it has begun; told(0) then. */
export function watchPosition(id, told) {
  let timer = 0;
  const look = async () => {
    try {
      const job = await api.job(id);
      told(job.state === "waiting" ? job.position || 1 : 0);
      if (job.state === "waiting") timer = setTimeout(look, 1500);
    } catch {
      timer = setTimeout(look, 3000);
    }
  };
  look();
  return () => clearTimeout(timer);
}
