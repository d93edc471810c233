// The gateway's API. An answer that is an error is thrown with what it says to do.

export class ApiError extends Error {
  constructor(status, code, message, hint) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** Told when a request was answered 401: the user has to sign in. */
export const signedOut = new EventTarget();

async function failure(answer) {
  let error = {};
  try {
    error = (await answer.json()).error || {};
  } catch {
    error = { message: `the server answered ${answer.status}` };
  }
  if (answer.status === 401) signedOut.dispatchEvent(new Event("out"));
  return new ApiError(answer.status, error.code || "", error.message || "it did not work", error.hint);
}

const PATIENCE_MS = 60000; // a connection that died in the machine's sleep says nothing

let isClosed = false;

/** Nobody is signed in: what is still asked for is not sent, since a browser tells its user of every 401. */
export function closeApi(closed) {
  isClosed = closed;
}

export async function send(method, path, body, fields) {
  let answer;
  if (isClosed && !/^\/api\/log(in|out)$/.test(path)) throw new ApiError(401, "login", "nobody is signed in");
  try {
    answer = await fetch(path, {
      method,
      headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...fields },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    throw new ApiError(0, "away", "the server cannot be reached",
      "It may be restarting: what runs there goes on, and the page will be back by itself.");
  }
  if (!answer.ok) throw await failure(answer);
  return answer;
}

async function json(method, path, body, fields) {
  return (await send(method, path, body, fields)).json();
}

const part = encodeURIComponent;

export const freshKey = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");

/** A request that is sent again with its key, by the browser or by us, makes no second job. */
const once = (key = freshKey()) => ({ "Idempotency-Key": key });

export const api = {
  who: () => json("GET", "/api/login").then((answer) => answer.user),
  login: (body) => json("POST", "/api/login", body),
  logout: () => json("POST", "/api/logout", {}),
  catalog: () => json("GET", "/api/catalog"),
  turn: (body, key) => json("POST", "/api/turns", { ...body, detach: true }, once(key)),
  call: (body) => json("POST", "/api/calls", { ...body, detach: true }, once()),
  run: (body) => json("POST", "/api/runs", body, once()),
  jobs: () => json("GET", "/api/jobs").then((answer) => answer.jobs),
  /** The same, and for admins the spares. */
  now: () => json("GET", "/api/jobs"),
  job: (id) => json("GET", `/api/jobs/${part(id)}`),
  cancel: (id) => json("DELETE", `/api/jobs/${part(id)}`),
  answer: (id, ask, body) => json("POST", `/api/jobs/${part(id)}/answers/${ask}`, body),
  sessions: (words, before) =>
    json("GET", `/api/sessions?mine=yes${words ? `&q=${part(words)}` : ""}${before ? `&before=${before}` : ""}`)
      .then((answer) => answer.sessions),
  rename: (id, title) => json("PATCH", `/api/sessions/${id}`, { title }),
  remove: (id) => json("DELETE", `/api/sessions/${id}`),
  messages: (id, before) =>
    json("GET", `/api/sessions/${id}/messages${before ? `?before=${before}` : ""}`)
      .then((answer) => answer.messages),
  history: () => json("GET", "/api/metrics/history"),
  tokens: () => json("GET", "/api/tokens").then((answer) => answer.tokens),
  audit: () => json("GET", "/api/audit").then((answer) => answer.lines),
};
