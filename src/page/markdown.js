// Markdown as a tree. It never makes HTML: tags in the text stay text. Nothing in it takes more than
// about linear time, and nesting is bounded, because a reply may be hostile.

const DEPTH_MAX = 10;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)(.*)$/;
const SETEXT = /^ {0,3}(=+|-+)\s*$/;
const DIVIDER = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const LINE_MAX = 20000; // longer ones are not looked at for tables, headings, rules

/* ---- blocks ---------------------------------------------------------------------------- */

/** Blocks of a text, each with the offset where it begins: only the last one can change by more text. */
export function parse(text) {
  const lines = text.split("\n");
  const reader = { lines, at: 0, depth: 0 };
  const offsets = [0];
  for (const line of lines) offsets.push(offsets[offsets.length - 1] + line.length + 1);
  const blocks = [];
  while (skipBlank(reader)) {
    const from = offsets[reader.at];
    const block = readBlock(reader);
    block.from = from;
    blocks.push(block);
  }
  return blocks;
}

function parseLines(lines, depth) {
  if (depth > DEPTH_MAX) return [{ type: "paragraph", inline: [{ type: "text", text: lines.join("\n") }] }];
  const reader = { lines, at: 0, depth };
  const blocks = [];
  while (skipBlank(reader)) blocks.push(readBlock(reader));
  return blocks;
}

function skipBlank(reader) {
  while (reader.at < reader.lines.length && !reader.lines[reader.at].trim()) reader.at += 1;
  return reader.at < reader.lines.length;
}

const isLong = (line) => line.length > LINE_MAX;

/** The first that takes the line makes the block. */
const READERS = [readFence, readHeading, readRule, readQuote, readList, readIndented, readTable];

function readBlock(reader) {
  const line = reader.lines[reader.at];
  if (!isLong(line)) {
    for (const read of READERS) {
      const block = read(reader, line);
      if (block) return block;
    }
  }
  return readParagraph(reader);
}

function readFence(reader, line) {
  const found = FENCE.exec(line);
  if (!found) return null;
  const mark = found[1];
  const close = new RegExp(`^ {0,3}${mark[0] === "`" ? "`" : "~"}{${mark.length},}\\s*$`);
  const body = [];
  let isOpen = true;
  for (reader.at += 1; reader.at < reader.lines.length; reader.at += 1) {
    if (close.test(reader.lines[reader.at])) {
      isOpen = false;
      reader.at += 1;
      break;
    }
    body.push(reader.lines[reader.at]);
  }
  return { type: "code", language: found[2].trim().split(/\s+/)[0].toLowerCase(), text: body.join("\n"), isOpen };
}

function readHeading(reader, line) {
  const found = HEADING.exec(line);
  if (!found) return null;
  reader.at += 1;
  return { type: "heading", level: found[1].length, inline: parseInline(found[2] || "") };
}

function readRule(reader, line) {
  if (!RULE.test(line)) return null;
  reader.at += 1;
  return { type: "rule" };
}

function readQuote(reader, line) {
  if (!QUOTE.test(line)) return null;
  const body = [];
  while (reader.at < reader.lines.length && QUOTE.test(reader.lines[reader.at])) {
    body.push(reader.lines[reader.at].replace(QUOTE, ""));
    reader.at += 1;
  }
  return { type: "quote", blocks: parseLines(body, reader.depth + 1) };
}

function readIndented(reader, line) {
  if (!/^( {4}|\t)/.test(line)) return null;
  const body = [];
  while (reader.at < reader.lines.length && /^( {4}|\t)|^\s*$/.test(reader.lines[reader.at])) {
    body.push(reader.lines[reader.at].replace(/^( {4}|\t)/, ""));
    reader.at += 1;
  }
  return { type: "code", language: "", text: body.join("\n").replace(/\n+$/, ""), isOpen: false };
}

/* ---- lists ----------------------------------------------------------------------------- */

function readList(reader, line) {
  const first = ITEM.exec(line);
  if (!first) return null;
  const isOrdered = /\d/.test(first[2]);
  const list = { type: "list", isOrdered, start: isOrdered ? parseInt(first[2], 10) : 1, isLoose: false, items: [] };
  while (reader.at < reader.lines.length) {
    const found = ITEM.exec(reader.lines[reader.at]);
    if (!found || /\d/.test(found[2]) !== isOrdered || RULE.test(reader.lines[reader.at])) break;
    list.items.push(readItem(reader, found, list));
    if (!endsAtItem(reader)) break;
  }
  return list;
}

/** Passes blank lines if another item follows them. */
function endsAtItem(reader) {
  const at = reader.at;
  if (skipBlank(reader) && ITEM.test(reader.lines[reader.at])) return true;
  reader.at = at;
  return false;
}

function readItem(reader, found, list) {
  const indent = found[1].length + found[2].length + Math.min(Math.max(found[3].length, 1), 4);
  const inside = new RegExp(`^ {${indent}}`);
  const body = [found[4]];
  let blanks = 0;
  for (reader.at += 1; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at];
    if (!line.trim()) blanks += 1;
    else if (inside.test(line) || (!blanks && isLazy(line))) {
      if (blanks) list.isLoose = true;
      while (blanks) {
        body.push("");
        blanks -= 1;
      }
      body.push(line.replace(inside, ""));
    } else break;
  }
  if (blanks) reader.at -= blanks;
  const task = /^\[([ xX])\]\s+/.exec(body[0]);
  if (task) body[0] = body[0].slice(task[0].length);
  return { task: task ? task[1] !== " " : null, blocks: parseLines(body, reader.depth + 1) };
}

const isLazy = (line) =>
  !ITEM.test(line) && !FENCE.test(line) && !HEADING.test(line) && !QUOTE.test(line) && !RULE.test(line);

/* ---- tables, paragraphs ------------------------------------------------------------------- */

function cells(line) {
  const row = [];
  let cell = "";
  const text = line.trim().replace(/^\|/, "");
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === "\\" && text[i + 1] === "|") {
      cell += "|";
      i += 1;
    } else if (text[i] === "|") {
      row.push(cell.trim());
      cell = "";
    } else cell += text[i];
  }
  if (cell.trim()) row.push(cell.trim());
  return row;
}

function readTable(reader, line) {
  const next = reader.lines[reader.at + 1];
  if (!line.includes("|") || next === undefined || isLong(next) || !DIVIDER.test(next)) return null;
  const head = cells(line);
  const aligns = cells(next).map((cell) => {
    const left = cell.startsWith(":");
    const right = cell.endsWith(":");
    return left && right ? "center" : right ? "end" : "start";
  });
  if (head.length !== aligns.length) return null;
  const rows = [];
  for (reader.at += 2; reader.at < reader.lines.length; reader.at += 1) {
    const row = reader.lines[reader.at];
    if (!row.trim() || !row.includes("|") || isLong(row)) break;
    rows.push(cells(row).slice(0, head.length).map(parseInline));
  }
  return { type: "table", aligns, head: head.map(parseInline), rows };
}

function readParagraph(reader) {
  const body = [reader.lines[reader.at]];
  for (reader.at += 1; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at];
    const under = isLong(line) ? null : SETEXT.exec(line);
    if (under) {
      reader.at += 1;
      return { type: "heading", level: under[1][0] === "=" ? 1 : 2, inline: parseInline(body.join("\n").trim()) };
    }
    if (!line.trim() || (!isLong(line) && (FENCE.test(line) || HEADING.test(line) || QUOTE.test(line)
      || RULE.test(line) || interrupts(line)))) break;
    body.push(line);
  }
  return { type: "paragraph", inline: parseInline(body.join("\n").trim()) };
}

function interrupts(line) {
  const found = ITEM.exec(line);
  return found && found[4] && (!/\d/.test(found[2]) || parseInt(found[2], 10) === 1);
}

/* ---- inside a paragraph ---------------------------------------------------------------------- */

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
