// The inside of a paragraph of Markdown: code, emphasis, links, breaks. Bounded as markdown.js is.

const PUNCTUATION = /[\p{P}\p{S}]/u;
const SPECIAL = /[\\`*_~[\]!<&\n]|https?:\/\//g;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const BRACKETS_MAX = 200;

/** text, code, strong, em, strike, link, image, break */
export function parseInline(text) {
  const state = { text, at: 0, nodes: [], brackets: [], ticks: new Map() };
  while (state.at < text.length) {
    SPECIAL.lastIndex = state.at;
    const found = SPECIAL.exec(text);
    const until = found ? found.index : text.length;
    if (until > state.at) pushText(state.nodes, text.slice(state.at, until));
    state.at = until;
    if (found) readSpecial(state, found[0]);
  }
  return emphasize(state.nodes);
}

function pushText(nodes, text) {
  const last = nodes[nodes.length - 1];
  if (last && last.type === "text" && !last.isMark) last.text += text;
  else nodes.push({ type: "text", text });
}

function readSpecial(state, mark) {
  const { text, at } = state;
  if (mark === "\\") return readEscape(state);
  if (mark === "`") return readCode(state);
  if (mark === "*" || mark === "_" || mark === "~") return readRun(state, mark);
  if (mark === "!" && text[at + 1] === "[") return openBracket(state, true);
  if (mark === "[") return openBracket(state, false);
  if (mark === "]") return closeBracket(state);
  if (mark === "<") return readAngle(state);
  if (mark === "&") return readEntity(state);
  if (mark === "\n") return readBreak(state);
  if (mark.startsWith("http")) return readAddress(state);
  return literal(state, mark);
}

function literal(state, text) {
  pushText(state.nodes, text);
  state.at += text.length;
}

function readEscape(state) {
  const next = state.text[state.at + 1];
  if (next === "\n") {
    state.nodes.push({ type: "break" });
    state.at += 2;
  } else if (next && /[!-/:-@[-`{-~]/.test(next)) {
    pushText(state.nodes, next);
    state.at += 2;
  } else literal(state, "\\");
}

function readCode(state) {
  const ticks = /^`+/.exec(state.text.slice(state.at, state.at + 200))[0];
  const from = state.at + ticks.length;
  let end = state.ticks.get(ticks.length) === -1 ? -1 : state.text.indexOf(ticks, from);
  while (end >= 0 && (state.text[end + ticks.length] === "`" || state.text[end - 1] === "`")) {
    while (state.text[end] === "`") end += 1;
    end = state.text.indexOf(ticks, end);
  }
  if (end < 0) {
    state.ticks.set(ticks.length, -1);
    literal(state, ticks);
    return;
  }
  let code = state.text.slice(from, end).replace(/\n/g, " ");
  if (/^ .* $/.test(code) && code.trim()) code = code.slice(1, -1);
  state.nodes.push({ type: "code", text: code });
  state.at = end + ticks.length;
}

function readRun(state, mark) {
  const { text, at } = state;
  let end = at;
  while (text[end] === mark) end += 1;
  const before = at ? text[at - 1] : " ";
  const after = end < text.length ? text[end] : " ";
  const blankBefore = /\s/.test(before);
  const blankAfter = /\s/.test(after);
  const left = !blankAfter && (!PUNCTUATION.test(after) || blankBefore || PUNCTUATION.test(before));
  const right = !blankBefore && (!PUNCTUATION.test(before) || blankAfter || PUNCTUATION.test(after));
  const isWord = mark === "_";
  state.nodes.push({
    type: "run", mark, count: end - at, size: end - at,
    opens: isWord ? left && (!right || PUNCTUATION.test(before)) : left,
    closes: isWord ? right && (!left || PUNCTUATION.test(after)) : right,
  });
  state.at = end;
}

function openBracket(state, isImage) {
  const mark = isImage ? "![" : "[";
  if (state.brackets.length < BRACKETS_MAX) state.brackets.push({ index: state.nodes.length, isImage });
  state.nodes.push({ type: "text", text: mark, isMark: true });
  state.at += mark.length;
}

const TARGET = /^\(\s*(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,4}))(?:\s+(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?\s*\)/;

function closeBracket(state) {
  const bracket = state.brackets.pop();
  const rest = bracket && state.text.slice(state.at + 1, state.at + 4000);
  const found = rest && TARGET.exec(rest);
  if (!found) {
    literal(state, "]");
    return;
  }
  const inside = state.nodes.splice(bracket.index).slice(1);
  const address = found[1] ?? found[2];
  state.nodes.push({ type: bracket.isImage ? "image" : "link", address, inline: emphasize(inside) });
  if (!bracket.isImage) state.brackets = state.brackets.filter((other) => other.isImage);
  state.at += 1 + found[0].length;
}

function readAngle(state) {
  const found = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/i.exec(state.text.slice(state.at, state.at + 2010));
  if (!found) {
    literal(state, "<");
    return;
  }
  state.nodes.push({ type: "link", address: found[1], inline: [{ type: "text", text: found[1] }] });
  state.at += found[0].length;
}

function readAddress(state) {
  let address = /^https?:\/\/[^\s<>`]{0,2000}/.exec(state.text.slice(state.at, state.at + 2020))[0];
  address = address.replace(/[.,;:!?'"*_~]+$/, "");
  while (address.endsWith(")") && address.split(")").length > address.split("(").length) address = address.slice(0, -1);
  if (address.length < 9) {
    literal(state, state.text.slice(state.at, state.at + 4));
    return;
  }
  if (address.includes("]")) address = address.slice(0, address.indexOf("]"));
  state.nodes.push({ type: "link", address, inline: [{ type: "text", text: address }] });
  state.at += address.length;
}

function readEntity(state) {
  const found = /^&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/.exec(state.text.slice(state.at, state.at + 12));
  if (!found) {
    literal(state, "&");
    return;
  }
  const code = found[2] ? parseInt(found[2], 10) : parseInt(found[3], 16);
  const isCharacter = code > 31 && code < 0x110000 && !(code >= 0xd800 && code < 0xe000);
  pushText(state.nodes, found[1] ? ENTITIES[found[1]] : isCharacter ? String.fromCodePoint(code) : "\ufffd");
  state.at += found[0].length;
}

function readBreak(state) {
  const last = state.nodes[state.nodes.length - 1];
  const isHard = last && last.type === "text" && / {2,}$/.test(last.text);
  if (last && last.type === "text") last.text = last.text.replace(/ +$/, "");
  if (isHard) state.nodes.push({ type: "break" });
  else pushText(state.nodes, "\n");
  state.at += 1;
}

/* ---- emphasis: runs of marks that open and close --------------------------------------------- */

const fits = (opener, closer) =>
  opener.opens && opener.mark === closer.mark && opener.count > 0
  && (opener.mark !== "~" || opener.count === closer.count)
  && !((opener.closes || closer.opens) && (opener.size + closer.size) % 3 === 0 && opener.size % 3 && opener.mark !== "~");

const RUNS_LOOKED_AT = 64; // openers that a closer looks at: more are hostile

function emphasize(nodes) {
  const out = [];
  for (const node of nodes) {
    if (node.type === "run" && node.closes) closeRun(out, node);
    if (node.type !== "run") out.push(node);
    else if (node.count > 0) out.push(node);
  }
  return out.map((node) => (node.type === "run" ? { type: "text", text: node.mark.repeat(node.count) } : node));
}

function closeRun(out, closer) {
  while (closer.count > 0) {
    let index = out.length - 1;
    let looked = 0;
    for (; index >= 0; index -= 1) {
      if (out[index].type !== "run") continue;
      looked += 1;
      if (fits(out[index], closer) || looked >= RUNS_LOOKED_AT) break;
    }
    const opener = out[index];
    if (!opener || opener.type !== "run" || !fits(opener, closer)) return;
    wrap(out, index, opener, closer);
  }
}

function wrap(out, index, opener, closer) {
  const isStrike = opener.mark === "~";
  const count = isStrike ? opener.count : Math.min(opener.count, closer.count) >= 2 ? 2 : 1;
  const inside = out.splice(index + 1).map((node) =>
    (node.type === "run" ? { type: "text", text: node.mark.repeat(node.count) } : node));
  opener.count -= count;
  closer.count -= count;
  if (!opener.count) out.pop();
  out.push({ type: isStrike ? "strike" : count === 2 ? "strong" : "em", inline: inside });
}
