// One stream for all tabs of a browser, which opens six connections to a server at most.

import { steadily } from "./dom.js";
import { EventStream } from "./stream.js";

const GATHER_MS = 125; // so often a tab is woken, and draws, at most

const tabs = new Set();
let gathered = [];

function tell(message) {
  for (const tab of tabs) tab.postMessage(message);
}

function flush() {
  if (gathered.length) tell({ events: gathered });
  gathered = [];
}

const flushSoon = steadily(GATHER_MS, flush);

const stream = new EventStream((events) => {
  gathered.push(...events);
  flushSoon();
}, (state) => {
  flush();
  tell({ state });
});
let begun = false;

const orders = {
  hello(tab) {
    tabs.add(tab);
    if (begun) tab.postMessage({ state: stream.state });
    else stream.start();
    begun = true;
  },
  bye: (tab) => tabs.delete(tab),
  hurry: () => stream.hurry(),
  restart: () => stream.start(),
  stop: () => stream.stop(),
};

self.addEventListener("connect", (event) => {
  const tab = event.ports[0];
  tab.addEventListener("message", ({ data }) => orders[data]?.(tab));
  tab.start();
});
