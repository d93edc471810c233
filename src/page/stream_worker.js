// One stream for all tabs of a browser, which opens six connections to a server at most.

import { EventStream } from "./stream.js";

const tabs = new Set();

function tell(message) {
  for (const tab of tabs) tab.postMessage(message);
}

const stream = new EventStream((events) => tell({ events }), (state) => tell({ state }));
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
