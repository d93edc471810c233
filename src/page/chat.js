// Talking with agents.

import { api } from "./api.js";
import { h, later, replace } from "./dom.js";
import { icon } from "./icons.js";
import { Composer } from "./composer.js";
import { live } from "./live.js";
import { VirtualList } from "./list.js";
import { emptyState, sayError } from "./notice.js";
import { address, Sessions, titleOf } from "./sessions.js";
import { Talk } from "./talk.js";
import { world } from "./world.js";

const RECENT_JOBS = 30; // whose details are read again when a conversation is opened

const freshName = () => `page-${Array.from(crypto.getRandomValues(new Uint8Array(6)), (b) => b.toString(16).padStart(2, "0")).join("")}`;

export class Chat {
  constructor() {
    this.talks = [];
    this.generation = 0;
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
    this.refresh = later(400, () => this.readSessions());
    live.addEventListener("events", ({ detail }) => this.heard(detail));
    live.addEventListener("state", ({ detail }) => detail.state === "open" && this.refresh());
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

  async enter([agent, session]) {
    this.drawer(false);
    if (!this.sessions.all.length) await this.readSessions();
    if (agent && session) {
      if (agent !== this.agent || session !== this.session) await this.open(agent, session);
    } else this.begin(agent);
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
    this.list.set([]);
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
    this.heading.textContent = stored ? titleOf(stored) : this.first || "New conversation";
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

  async open(agent, session) {
    this.clear();
    const { generation } = this;
    this.agent = agent;
    this.session = session;
    const stored = this.sessions.named(agent, session);
    this.id = stored?.id;
    this.first = null;
    this.show();
    try {
      const [messages, jobs] = await Promise.all([this.id ? api.messages(this.id) : [], api.jobs()]);
      if (generation !== this.generation) return;
      this.take(messages);
      await this.join(jobs.filter((job) => job.kind === "turn" && job.name === agent && job.session === session
        && job.user === world.user?.name).reverse(), generation);
      this.list.set(this.items());
      this.changed();
    } catch (error) {
      sayError(error);
    }
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
  async join(jobs, generation) {
    for (const job of jobs.slice(-RECENT_JOBS)) {
      const isOver = !["waiting", "running"].includes(job.state);
      let talk = this.talks.find((one) => one.job === job.id);
      if (!talk) {
        const request = await this.request(job.id);
        if (generation !== this.generation) return;
        if (!request || this.talks.some((one) => one.job === job.id)) continue;
        talk = new Talk(this.agent, request.message || "", request.attachments || [], this.actions);
        this.talks.push(talk);
        this.first = this.first || request.message;
      }
      talk.follow(job.id, isOver);
    }
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
      this.list.prepend(talks.flatMap((talk) => [talk.said, talk.reply]));
    } catch (error) {
      sayError(error);
    } finally {
      this.isReading = false;
    }
  }

  /* ---- saying --------------------------------------------------------------------------------- */

  async send(text, files) {
    const isNew = !this.session;
    const session = this.session || freshName();
    const talk = new Talk(this.agent, text, files, this.actions);
    try {
      this.sending = api.turn({ agent: this.agent, session, message: text,
        attachments: files.length ? files.map(({ name, url }) => ({ name, url })) : undefined });
      talk.follow((await this.sending).id);
    } catch (error) {
      sayError(error);
      return false;
    }
    this.session = session;
    this.talks.push(talk);
    if (isNew) {
      this.first = text;
      this.id = undefined;
      history.replaceState(null, "", address(this.agent, session));
      this.show();
    }
    this.list.append(talk.said, talk.reply);
    this.list.toEnd();
    this.changed();
    return true;
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
    if (start) this.joinOne(start.job);
  }

  async joinOne(id) {
    const { generation } = this;
    const job = await api.job(id).catch(() => null);
    await Promise.resolve(this.sending).catch(() => null); // it may be our own, whose answer is on its way
    if (!job || generation !== this.generation || job.session !== this.session || job.name !== this.agent
      || job.user !== world.user?.name || this.talks.some((talk) => talk.job === id)) return;
    const before = this.talks.length;
    await this.join([job], generation);
    if (this.talks.length === before) return;
    const talk = this.talks[this.talks.length - 1];
    this.list.append(talk.said, talk.reply);
    this.changed();
  }
}
