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
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    state = "connecting"; // it was told nothing meanwhile
    order("hello");
  });
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
  document.addEventListener("resume", resync); // a tab that was frozen
  document.addEventListener("visibilitychange", () => document.hidden || hurry());
}

/* ---- watched jobs ------------------------------------------------------------------- */

const AGAIN_MS = 1000;

const watches = new Map();

class Watch {
  constructor(id, heard) {
    this.id = id;
    this.heard = heard;
    this.last = 0;
    this.waiting = null; // what comes while the events so far are read
    this.isStale = false;
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

  /** All that has been told of it. What comes meanwhile waits: behind a hole in the events nothing could fill it. */
  async catchUp() {
    this.isStale = true;
    if (this.waiting) return;
    this.waiting = [];
    while (this.isStale && !this.ended) {
      this.isStale = false;
      if (await this.read()) continue;
      this.isStale = true;
      await new Promise((done) => { setTimeout(done, AGAIN_MS); });
    }
    const { waiting } = this;
    this.waiting = null;
    this.pass(waiting);
  }

  /** False: it has to be tried again. */
  async read() {
    const found = [];
    try {
      const fields = { Accept: "text/event-stream" };
      if (this.last) fields["Last-Event-ID"] = String(this.last);
      const answer = await send("GET", `/api/jobs/${encodeURIComponent(this.id)}/events?follow=no`, undefined, fields);
      await readStream(answer, (events) => found.push(...events));
    } catch (error) {
      if (error.status >= 400 && error.status < 429) return true; // it is no longer kept, or not ours
      return this.ended;
    }
    this.pass(found);
    return true;
  }
}

/** Events may have been missed. */
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
    watch.ended = true;
    watch.heard = () => {};
    watches.get(id)?.delete(watch);
    if (!watches.get(id)?.size) watches.delete(id);
  };
}

/** Its place in the queue and its owner, until it has begun; told(0, owner) then. */
export function watchPosition(id, told) {
  let timer = 0;
  let isLeft = false;
  const look = async () => {
    const job = await api.job(id).catch(() => null);
    if (isLeft) return;
    if (job) told(job.state === "waiting" ? job.position || 1 : 0, job.user);
    if (!job || job.state === "waiting") timer = setTimeout(look, job ? 1500 : 3000);
  };
  look();
  return () => {
    isLeft = true;
    clearTimeout(timer);
  };
}
