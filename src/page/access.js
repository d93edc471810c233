// Signing in, and for admins: the tokens and the audit log.

import { api } from "./api.js";
import { h, replace, table } from "./dom.js";
import { emblem, icon } from "./icons.js";
import { busy, emptyState, errorCard } from "./notice.js";
import { ago, fullTime, span } from "./time.js";
import { isAdmin, world } from "./world.js";

/* ---- the door ------------------------------------------------------------------------------------- */

/** A form that asks for a token; done() when it was right. */
export function signIn(done, words = "") {
  const note = h("p", { class: "field-error", role: "alert" }, words);
  const input = h("input", { id: "token", type: "password", autocomplete: "current-password", spellcheck: "false",
    required: true, dir: "ltr", "aria-describedby": "token-about" });
  const button = h("button", { class: "primary" }, "Sign in");
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    note.textContent = "";
    try {
      await api.login({ token: input.value.trim() });
      await done();
    } catch (error) {
      note.textContent = error.status === 401 ? "That token is not valid. It may have been revoked, or its time is over." : `${error.message}. ${error.hint || ""}`;
      input.select();
    } finally {
      button.disabled = false;
    }
  };
  const form = h("form", { class: "door-form", onsubmit: send },
    h("label", { for: "token" }, "Token"), input, note, button,
    h("div", { id: "token-about", class: "dim" },
      h("p", null, "Make one on the machine where perch runs:"),
      h("code", null, "perch token create NAME"),
      h("p", null, "perch serve on a terminal also prints a link that opens this page, once.")));
  return h("main", { class: "door" }, h("div", { class: "door-card" }, emblem(), h("h1", null, "perch"),
    h("p", { class: "door-words" }, "Agents, plugins and tools, in their sandboxes."), form));
}

/** "#once=…": exchanged for a cookie, and gone from the address. Words where it did not work. */
export async function takeOnce() {
  const found = /^#once=([\w-]+)$/.exec(location.hash);
  if (!found) return "";
  history.replaceState(null, "", "/#chat");
  try {
    await api.login({ once: found[1] });
    return "";
  } catch (error) {
    return error.status === 401 ? "That link has been used, or is older than five minutes. Start perch serve again for another, or sign in with a token." : error.message;
  }
}

/* ---- the view ---------------------------------------------------------------------------------------- */

function tokenRow(token) {
  return h("tr", null, h("td", null, token.name), h("td", null, h("span", { class: `chip ${token.role}` }, token.role)),
    h("td", null, token.allow.length ? token.allow.join(", ") : "all that is exposed"),
    h("td", { title: fullTime(token.created) }, ago(token.created)),
    h("td", null, token.expires ? fullTime(token.expires) : "never"));
}

function auditRow(line) {
  const when = line.time ?? line.ts ?? line.at;
  const seconds = typeof when === "string" ? Date.parse(when) / 1000 : when > 1e11 ? when / 1000 : when;
  const name = [line.binding, line.tool].filter(Boolean).join("/") || line.name || line.command || line.agent || "";
  const verdict = line.verdict ?? line.code ?? (line.success === undefined ? "" : line.success ? "success" : "failed");
  return h("tr", null, h("td", { title: seconds ? fullTime(seconds) : "" }, seconds ? ago(seconds) : ""),
    h("td", null, line.kind || "call"), h("td", null, name), h("td", null, line.caller || ""), h("td", null, verdict),
    h("td", null, line.duration_ms === undefined ? "" : span(line.duration_ms)));
}

export class Access {
  constructor(leave) {
    this.body = h("div", { class: "stack" });
    this.leaveButton = h("button", { type: "button", onclick: leave }, icon("leave"), "Sign out");
    this.node = h("div", { class: "panel" }, h("header", { class: "panel-head" }, h("h1", null, "Access")), this.body);
  }

  async enter() {
    const { user } = world;
    const who = h("section", { class: "card" }, h("p", { class: "card-title" }, user.name, h("span", { class: `chip ${user.role}` }, user.role)),
      h("p", { class: "dim" }, user.role === "admin" ? "Sees everybody's jobs, answers approvals, reads tokens and the audit log."
        : "Sees its own jobs, conversations and questions."), this.leaveButton);
    replace(this.body, who, isAdmin() && busy("Reading …"));
    if (!isAdmin()) return;
    try {
      const [tokens, lines] = await Promise.all([api.tokens(), api.audit()]);
      replace(this.body, who, this.tokens(tokens), this.audit(lines));
    } catch (error) {
      replace(this.body, who, errorCard("It cannot be read", error, () => this.enter()));
    }
  }

  tokens(tokens) {
    return h("section", null, h("h2", null, "Tokens"),
      tokens.length ? table("Tokens", ["Name", "Role", "May use", "Made", "Ends"], tokens.map(tokenRow)) : h("p", { class: "dim" }, "There is none yet."),
      h("p", { class: "dim" }, "They are made and revoked on the server's machine: ", h("code", null, "perch token create NAME"), ", ",
        h("code", null, "perch token revoke NAME")));
  }

  audit(lines) {
    return h("section", null, h("h2", null, "Audit log"),
      lines.length ? table("Audit log", ["When", "Kind", "What", "Caller", "Verdict", "Took"], lines.slice(-200).reverse().map(auditRow))
        : emptyState("access", "Nothing has been written yet", "Every turn, call and run leaves a line here."));
  }
}
