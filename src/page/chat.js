// Talking with agents.

import { api, freshKey } from "./api.js";
import { h, replace, steadily } from "./dom.js";
import { icon } from "./icons.js";
import { Composer } from "./composer.js";
import { live } from "./live.js";
import { VirtualList } from "./list.js";
import { emptyState, sayError } from "./notice.js";
import { address, Sessions, titleOf } from "./sessions.js";
import { Talk } from "./talk.js";
import { world } from "./world.js";

const RECENT_JOBS = 30; // whose details are read again when a conversation is opened

const AGAIN_MS = 1000;
const AWAY = 0; // the status of a request that was not answered: it may have been heard all the same

export class Chat {
  /** until: the signal that ends it. */
  constructor(until) {
    this.talks = [];
    this.generation = 0;
    this.queue = Promise.resolve();
    this.unsure = null; // a message of which nobody knows whether the server has it
    this.sessions = new Sessions((session) => {
      if (session.agent === this.agent && session.session === this.session) location.hash = "#chat";
    });
    this.list = new VirtualList("Conversation", () => this.readOlder());
    this.composer = new Composer((text, files) => this.send(text, files), () => this.stop());
    this.composer.editLast = () => this.talks.length && this.edit(this.talks[this.talks.length - 1]);
    this.welcome = h("div", { class: "welcome", hidden: true });
    this.heading = h("h1", { dir: "auto" }, "New conversation");
    this.about = h("span", { class: "chip" });
    this.place = h("section", { class: "talk", "aria-label": "Conversation" },
      h("header", { class: "talk-head" },
        h("button", { type: "button", class: "quiet only-narrow", "aria-label": "Conversations", "aria-expanded": "false",
          onclick: () => this.drawer() }, icon("menu")), this.heading, this.about),
      this.welcome, this.list.node, this.composer.node);
    this.shade = h("div", { class: "shade", onclick: () => this.drawer(false) });
    this.node = h("div", { class: "chat" }, this.sessions.node, this.shade, this.place);
    this.composer.acceptDrops(this.place);
    this.actions = { retry: (talk) => this.send(talk.text, talk.attachments), edit: (talk) => this.edit(talk), changed: () => this.changed() };
    this.refresh = steadily(400, () => this.readSessions());
    live.addEventListener("events", ({ detail }) => this.heard(detail), { signal: until });
    live.addEventListener("state", ({ detail }) => detail.state === "open" && this.reconnected(), { signal: until });
  }

  drawer(isOpen = !this.node.classList.contains("show-sessions")) {
    this.node.classList.toggle("show-sessions", isOpen);
    this.node.querySelector("[aria-expanded]").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.sessions.search.focus();
  }

  focusSearch() {
    this.drawer(true);
    this.sessions.search.focus();
  }

  /* ---- which conversation -------------------------------------------------------------------- */

  enter([agent, session]) {
    this.drawer(false);
    if (!agent || !session) this.begin(agent);
    else if (agent !== this.agent || session !== this.session) this.open(agent, session);
    if (!this.sessions.all.length) this.readSessions();
    this.composer.input.focus({ preventScroll: true });
  }

  leave() {
    this.drawer(false);
  }

  clear() {
    for (const talk of this.talks) talk.leave();
    this.talks = [];
    this.oldest = 0;
    this.isWhole = true;
    this.generation += 1;
    this.queue = Promise.resolve();
    this.list.set([]);
  }

  /** What adds to a conversation does so one after the other, so that nothing is added twice or in the wrong place.
   * work(isHere): whether the user is still in this conversation. */
  inTurn(work) {
    const { generation } = this;
    const done = this.queue.then(() => work(() => generation === this.generation));
    this.queue = done.catch(() => {});
    return done;
  }

  /** A new one. */
  begin(agent) {
    const { agents } = world.catalog;
    this.clear();
    this.session = null;
    this.agent = agents.some((one) => one.name === agent) ? agent : agents[0]?.name;
    this.first = null;
    this.head();
    this.drawWelcome();
    this.sessions.show("", null);
    this.changed();
  }

  drawWelcome() {
    const { agents } = world.catalog;
    const isEmpty = !this.session;
    this.welcome.hidden = !isEmpty;
    this.list.node.hidden = isEmpty;
    this.composer.node.hidden = isEmpty && !agents.length;
    if (!isEmpty) return;
    replace(this.welcome, agents.length
      ? [h("h2", null, agents.length > 1 ? "Whom would you like to talk with?" : "What can I pass on?"),
        h("div", { class: "agents", role: "radiogroup", "aria-label": "Agent" }, agents.map((agent) => this.agentCard(agent)))]
      : emptyState("chat", "There is no agent to talk with yet",
        "An agent is any program that reads a message and prints an answer. Start the server with one:",
        h("code", null, "perch serve --agent bot.yaml"),
        "or list the profiles of ~/.config/perch/agents under agents of [expose.http]."));
  }

  agentCard(agent) {
    return h("label", { class: "agent" },
      h("input", { type: "radio", name: "agent", value: agent.name, checked: agent.name === this.agent, onchange: () => {
        this.agent = agent.name;
        this.head();
        this.composer.input.focus();
      } }),
      h("span", { class: "agent-name" }, agent.title || agent.name),
      agent.description && h("span", { class: "agent-about", dir: "auto" }, agent.description));
  }

  head() {
    const stored = this.session && this.sessions.named(this.agent, this.session);
    if (stored) this.first = titleOf(stored); // a search may hide it from the list
    this.heading.textContent = this.first || "New conversation";
    this.about.textContent = this.agent || "";
    this.about.hidden = !this.session;
  }

  async readSessions() {
    await this.sessions.read();
    this.head();
  }

  show() {
    const extra = this.session && { agent: this.agent, session: this.session, first: this.first };
    this.sessions.show(this.session ? address(this.agent, this.session) : "", extra);
    this.drawWelcome();
    this.head();
  }

  /* ---- what was said -------------------------------------------------------------------------- */

  open(agent, session) {
    this.clear();
    this.agent = agent;
    this.session = session;
    this.id = undefined;
    this.first = null;
    this.show();
    this.inTurn(async (isHere) => {
      if (!this.sessions.named(agent, session)) await this.readSessions();
      if (!isHere()) return;
      this.id = this.sessions.named(agent, session)?.id;
      const messages = this.id ? await api.messages(this.id) : [];
      if (!isHere()) return;
      this.take(messages);
      await this.joinAll(isHere);
      if (!isHere()) return;
      for (const talk of this.talks) if (talk.job && !talk.isFollowed) talk.giveUp();
      this.list.set(this.items());
      this.changed();
    }).catch(sayError);
  }

  items() {
    return this.talks.flatMap((talk) => [talk.said, talk.reply]);
  }

  /** Messages of the transcript, the last first, as pairs. */
  take(messages) {
    const talks = [];
    let talk = null;
    for (const message of [...messages].reverse()) {
      if (message.role === "user") {
        talk = new Talk(this.agent, message.text, [], this.actions);
        talk.job = message.job;
        talks.push(talk);
      } else if (talk) {
        talk.settle(message.text, message.job);
        talk = null;
      }
    }
    this.oldest = messages.length ? messages[messages.length - 1].id : 0;
    this.isWhole = messages.length < 100;
    this.talks.unshift(...talks);
    return talks;
  }

  /** Jobs that the server still knows: what runs, and what the transcript does not tell of the last ones. */
  async joinAll(isHere) {
    const jobs = (await api.jobs()).filter((job) => this.isOfHere(job)).slice(0, RECENT_JOBS).reverse();
    for (const job of jobs) if (isHere()) await this.join(job, isHere);
  }

  isOfHere(job) {
    return job.kind === "turn" && job.name === this.agent && job.session === this.session && job.user === world.user?.name;
  }

  async join(job, isHere) {
    let talk = this.talks.find((one) => one.job === job.id);
    if (!talk) {
      const request = await this.request(job.id);
      if (!request || !isHere()) return;
      talk = new Talk(this.agent, request.message || "", request.attachments || [], this.actions);
      this.talks.push(talk);
      this.first = this.first || request.message;
    } else if (talk.isFollowed) return; // it reads on by itself
    talk.follow(job.id, !["waiting", "running"].includes(job.state));
  }

  /** What was asked: the job knows it while it is not over, the transcript from then on. */
  async request(id) {
    const { request } = await api.job(id);
    if (request) return request;
    if (!this.id) {
      await this.readSessions();
      this.id = this.sessions.named(this.agent, this.session)?.id;
    }
    const messages = this.id ? await api.messages(this.id) : [];
    const said = messages.find((message) => message.job === id && message.role === "user");
    return said && { message: said.text };
  }

  async readOlder() {
    if (this.isWhole || this.isReading || !this.id) return;
    this.isReading = true;
    const { generation } = this;
    try {
      const messages = await api.messages(this.id, this.oldest);
      if (generation !== this.generation) return;
      const talks = this.take(messages);
      for (const talk of talks) talk.giveUp();
      this.list.prepend(talks.flatMap((talk) => [talk.said, talk.reply]));
    } catch (error) {
      sayError(error);
    } finally {
      this.isReading = false;
    }
  }

  /* ---- saying --------------------------------------------------------------------------------- */

  /** Whether it was taken. It is shown at once. */
  async send(text, files) {
    const isNew = !this.session;
    if (isNew) this.name(text);
    const { agent, session, generation } = this;
    const talk = new Talk(agent, text, files, this.actions);
    this.talks.push(talk);
    this.list.append(talk.said, talk.reply);
    this.list.toEnd();
    this.changed();
    try {
      await this.inTurn((isHere) => this.post(talk, session, isHere));
      return true;
    } catch (error) {
      sayError(error);
      this.remove(talk);
      if (isNew && error.status !== AWAY && generation === this.generation) location.hash = `#chat/${encodeURIComponent(agent)}`;
      return false;
    }
  }

  /** A new conversation gets its name and address with its first message. */
  name(text) {
    this.session = `page-${freshKey()}`;
    this.id = undefined;
    this.first = text;
    history.replaceState(null, "", address(this.agent, this.session));
    this.show();
  }

  async post(talk, session, isHere) {
    const body = { agent: talk.agent, session, message: talk.text,
      attachments: talk.attachments.length ? talk.attachments.map(({ name, url }) => ({ name, url })) : undefined };
    const words = JSON.stringify(body);
    const key = this.unsure?.words === words ? this.unsure.key : freshKey();
    this.unsure = { words, key };
    try {
      const { id } = await api.turn(body, key);
      this.unsure = null;
      if (!isHere()) return;
      if (this.talks.some((one) => one.job === id)) this.remove(talk); // it had been heard the first time
      else talk.follow(id);
    } catch (error) {
      if (error.status !== AWAY) this.unsure = null;
      throw error;
    }
  }

  remove(talk) {
    this.talks = this.talks.filter((other) => other !== talk);
    this.list.remove(talk.said);
    this.list.remove(talk.reply);
    this.changed();
  }

  edit(talk) {
    this.composer.edit(talk.text);
  }

  running() {
    return this.talks.filter((talk) => !talk.isOver);
  }

  stop() {
    for (const talk of this.running()) talk.stop().catch(sayError);
  }

  changed() {
    this.composer.busy(this.running().length > 0);
  }

  /** Another tab, or another client of this user, may have begun something here. */
  heard(events) {
    if (events.some((event) => event.event === "end")) this.refresh();
    const start = events.find((event) => event.event === "start" && event.session_name === this.session && this.session
      && !this.talks.some((talk) => talk.job === event.job));
    if (start) this.rejoin();
  }

  reconnected() {
    this.refresh();
    this.rejoin();
  }

  /** What was begun in this conversation, by whomever. */
  rejoin() {
    const { generation } = this;
    if (!this.session) return;
    this.inTurn(async (isHere) => {
      const before = new Set(this.talks);
      await this.joinAll(isHere);
      if (!isHere()) return;
      for (const talk of this.talks) if (!before.has(talk) && !this.list.has(talk.said)) this.list.append(talk.said, talk.reply);
      this.changed();
    }).catch((error) => {
      if (error.status !== 401) setTimeout(() => generation === this.generation && this.rejoin(), AGAIN_MS);
    });
  }
}
