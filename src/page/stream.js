// A stream of events (text/event-stream) that is read by fetch, so that it can say behind which event
// it goes on; a silent one is given up, since a comment comes every 15 seconds.

const SILENCE_MS = 40000;
const GATHER_MS = 125; // so often a browser is woken, and draws, at most
const WAITS_MS = [250, 500, 1000, 2000, 4000, 8000];

/** Cuts what has come into events; what is not whole waits for more. */
export class EventCutter {
  constructor() {
    this.rest = "";
  }

  take(text) {
    const blocks = (this.rest + text).split("\n\n");
    this.rest = blocks.pop();
    return blocks.map(readEvent).filter(Boolean);
  }
}

function readEvent(block) {
  let id = 0;
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) id = Number(line.slice(3));
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
  }
  if (!data.length) return null;
  try {
    return { id, ...JSON.parse(data.join("\n")), number: id };
  } catch {
    return null;
  }
}

/** Reads a stream to its end: told(events) with each piece. */
export async function readStream(answer, told, heard = () => {}) {
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  const cutter = new EventCutter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    const events = cutter.take(decoder.decode(value, { stream: true }));
    if (events.length) told(events);
  }
}

/** The stream of all jobs of this user, for as long as it is wanted. */
export class EventStream {
  /** told(events), became("connecting" | "open" | "away" | "stranger") */
  constructor(told, became) {
    this.told = told;
    this.became = became;
    this.last = 0;
    this.tries = 0;
    this.run = 0;
    this.wake = null;
    this.abort = null;
    this.state = "connecting";
  }

  set(state) {
    this.state = state;
    this.became(state);
  }

  start() {
    this.stop();
    this.last = 0;
    this.tries = 0;
    this.loop(this.run);
  }

  stop() {
    this.run += 1;
    this.abort?.abort();
    this.wake?.();
  }

  /** Now, not when the wait is over: the machine was asleep, the network is back. */
  hurry() {
    if (this.state === "stranger") this.start();
    else if (this.state === "open" && Date.now() - this.heard > SILENCE_MS) this.abort?.abort();
    else this.wake?.();
  }

  async loop(run) {
    while (run === this.run) {
      this.set(this.tries ? "away" : "connecting");
      const goesOn = await this.follow(run);
      if (run !== this.run || !goesOn) return;
      await this.pause();
    }
  }

  pause() {
    const wait = WAITS_MS[Math.min(this.tries, WAITS_MS.length - 1)];
    this.tries += 1;
    return new Promise((done) => {
      const timer = setTimeout(done, wait);
      this.wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  /** One connection. False: there is no use in another one. */
  async follow(run) {
    const abort = (this.abort = new AbortController());
    const watch = setInterval(() => {
      if (Date.now() - this.heard > SILENCE_MS) abort.abort();
    }, 5000);
    this.heard = Date.now();
    try {
      const fields = { Accept: "text/event-stream" };
      if (this.last) fields["Last-Event-ID"] = String(this.last);
      const answer = await fetch(`/api/events?gather=${GATHER_MS}`, { headers: fields, cache: "no-store", signal: abort.signal });
      if (answer.status === 401) {
        if (run === this.run) this.set("stranger");
        return false;
      }
      if (answer.ok && run === this.run) await this.read(answer, run);
    } catch {
      // the wait and another try are the answer to every failure
    } finally {
      clearInterval(watch);
      abort.abort();
    }
    return true;
  }

  async read(answer, run) {
    this.tries = 0;
    this.set("open");
    await readStream(answer, (events) => {
      if (run !== this.run) return;
      this.last = events[events.length - 1].number || this.last;
      this.told(events);
    }, () => {
      this.heard = Date.now();
    });
  }
}
