// A message and its reply: two items of the list, and the state that the turn's events come to.

import { api } from "./api.js";
import { steadily } from "./dom.js";
import { watchJob, watchPosition } from "./live.js";
import { announce } from "./announcer.js";
import { ReplyView, userRow } from "./reply.js";
import { hear, newState } from "./turn.js";

const DRAW_MS = 80; // more often nobody reads

export class Talk {
  /** actions: { retry(talk), edit(talk), changed(talk) } */
  constructor(agent, text, attachments, actions) {
    this.agent = agent;
    this.text = text;
    this.attachments = attachments;
    this.actions = actions;
    this.state = newState("turn");
    this.view = null;
    this.said = { make: () => userRow(this.text, this.attachments, { edit: () => actions.edit(this) }) };
    this.reply = { make: () => {
      this.view = new ReplyView(this.state, this.agent, { retry: () => actions.retry(this) });
      return this.view.node;
    } };
    this.draw = steadily(DRAW_MS, () => this.drawNow());
    this.ends = [];
  }

  drawNow() {
    if (this.reply.node) this.view.draw();
    announce(this.agent, this.state);
  }

  /** As a transcript has it. */
  settle(reply, job) {
    this.job = this.state.job = job;
    if (reply) hear(this.state, { event: "reply", text: reply });
    hear(this.state, { event: "end", success: true });
  }

  /** Of a message whose job is no longer known, and that the transcript has no reply to. */
  giveUp() {
    if (this.isOver) return;
    hear(this.state, { event: "error", message: "no reply to this was kept" });
    hear(this.state, { event: "end", success: false });
  }

  /** Follows the job of the turn. Of one that is over, the events tell more than the transcript. */
  follow(job, isOver = false) {
    this.leave();
    this.job = job;
    this.isFollowed = true;
    const state = Object.assign(newState("turn"), { job, isQuiet: isOver });
    if (!isOver) this.become(state);
    this.ends = [watchJob(job, (events) => this.hear(state, events))];
    if (!isOver) this.ends.push(watchPosition(job, (position) => this.place(position)));
    if (this.isUnwanted) this.stop().catch(() => {});
  }

  become(state) {
    this.state = state;
    if (this.reply.node) this.view.reset(state);
  }

  place(position) {
    this.state.position = position;
    if (!position && this.state.phase === "waiting") this.state.phase = "running";
    this.draw();
  }

  hear(state, events) {
    for (const event of events) hear(state, event);
    if (state.end) this.leave();
    if (state.end && state !== this.state) this.become(state);
    this.draw();
    this.actions.changed(this);
  }

  async stop() {
    this.isUnwanted = true; // where its job has no name yet
    if (this.job && !this.state.end) await api.cancel(this.job);
  }

  leave() {
    for (const end of this.ends) end();
    this.ends = [];
  }

  get isOver() {
    return Boolean(this.state.end);
  }
}
