// What the events of a turn, a run or a call come to: a state that views draw. No part of it touches
// the page.

/** kind: "turn", "run" or "call". */
export function newState(kind) {
  return { kind, phase: "waiting", position: 0, parts: [], thinking: "", usage: null, asks: [], stderr: "",
    errors: [], warnings: [], end: null, result: null, progress: null, text: "" };
}

const lastPart = (state, type) => {
  const last = state.parts[state.parts.length - 1];
  return last && last.type === type ? last : null;
};

function addText(state, text, type = "text") {
  if (!text) return;
  const last = lastPart(state, type);
  if (last) last.text += text;
  else state.parts.push({ type, text });
  state.text += text;
}

/** A tool that the agent uses, or its plan: the card of the same id changes. */
function addActivity(state, id, title, told) {
  if (!told || typeof told !== "object") return;
  const before = state.parts.find((part) => part.type === "activity" && part.id === id);
  const fresh = {
    title: told.title, kind: told.kind, status: told.status, input: told.input,
    output: told.content?.length ? told.content : told.output, entries: Array.isArray(told.entries) ? told.entries : undefined,
  };
  const part = before || { type: "activity", id, title };
  for (const name in fresh) if (fresh[name] !== undefined && fresh[name] !== null) part[name] = fresh[name];
  if (!before) state.parts.push(part);
}

function addAsk(state, event) {
  if (state.asks.some((ask) => ask.ask === event.ask)) return;
  const ask = { ...event, answer: null };
  state.asks.push(ask);
  state.parts.push({ type: "ask", ask });
}

function end(state, event) {
  state.end = event;
  state.usage = state.usage || event.usage || null;
  state.phase = event.state || (event.success ? "done" : event.cancelled ? "cancelled" : "failed");
  for (const ask of state.asks) ask.answer = ask.answer || { closed: true };
}

const heard = {
  start: (state) => { state.phase = "running"; },
  partial: (state, event) => addText(state, event.text),
  reply: (state, event) => addText(state, event.text),
  output: (state, event) => addText(state, event.text, "output"),
  thinking: (state, event) => { state.thinking += event.text; },
  usage: (state, event) => { state.usage = event.usage; },
  tool: (state, event) => addActivity(state, `tool ${event.tool?.id}`, "Tool", event.tool),
  plan: (state, event) => addActivity(state, "plan", "Plan", event.plan),
  stderr: (state, event) => { state.stderr = (state.stderr + event.text).slice(-20000); },
  warning: (state, event) => { state.warnings.push(event.message); },
  error: (state, event) => { state.errors.push(event); },
  log: (state, event) => { state.parts.push({ type: "log", level: event.level, text: event.message ?? event.text }); },
  progress: (state, event) => {
    state.progress = event.done ? null : { message: event.message ?? event.text, current: event.current, total: event.total };
    const last = lastPart(state, "progress");
    const part = { type: "progress", ...event, message: event.message ?? event.text ?? last?.message };
    if (last && !last.done) Object.assign(last, part);
    else if (!event.done || event.message) state.parts.push(part);
  },
  permission: addAsk,
  approval: addAsk,
  form: addAsk,
  prompt: addAsk,
  confirm: addAsk,
  select: addAsk,
  multi_select: addAsk,
  withdraw: (state, event) => {
    const ask = state.asks.find((other) => other.ask === event.ask);
    if (ask && !ask.answer) ask.answer = { withdrawn: true };
  },
  result: (state, event) => { state.result = event.result; },
  end,
};

export function hear(state, event) {
  if (state.phase === "waiting") state.phase = "running";
  if (Object.hasOwn(heard, event.event)) heard[event.event](state, event);
  return state;
}

/** Why it failed, and what to do about it; null = it did not. */
export function failure(state) {
  if (!state.end || state.phase === "done") return null;
  const last = state.errors[state.errors.length - 1];
  const told = last ? last.message : state.end.exit_code > 0 ? `it exited with code ${state.end.exit_code}`
    : state.end.signal ? `it was ended by signal ${state.end.signal}` : "it did not say why";
  const words = {
    cancelled: "Stopped",
    interrupted: "The server died while this ran",
    dead: "Every try of this was interrupted",
  };
  return {
    title: words[state.phase] || (state.end.timed_out ? "It took too long" : "It failed"),
    message: state.phase === "cancelled" && !last ? "" : told,
    hint: state.end.hint || "",
    stderr: state.end.stderr_tail || state.stderr,
    isMild: state.phase === "cancelled",
  };
}

/** "1,204 tokens in, 88 out", from what the agent says. */
export function usageWords(usage) {
  if (!usage || typeof usage !== "object") return "";
  const number = (...names) => names.map((name) => usage[name]).find((value) => typeof value === "number");
  const input = number("input_tokens", "prompt_tokens", "inputTokens");
  const output = number("output_tokens", "completion_tokens", "outputTokens");
  const total = number("total_tokens", "totalTokens");
  if (input !== undefined || output !== undefined)
    return `${(input ?? 0).toLocaleString("en")} tokens in, ${(output ?? 0).toLocaleString("en")} out`;
  const [used, size] = [number("used"), number("size")];
  if (used !== undefined && size) return `${used.toLocaleString("en")} of ${size.toLocaleString("en")} tokens of its context`;
  return total === undefined ? "" : `${total.toLocaleString("en")} tokens`;
}
