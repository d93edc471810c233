// Markdown as a tree. It never makes HTML: tags in the text stay text. Nothing in it takes more than
// about linear time, and nesting is bounded, because a reply may be hostile.

import { parseInline } from "./markdown_inline.js";

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
