// Output of programs: colours by SGR, lines that are written again by CR; every other control sequence is
// left out.

const SEQUENCE = /\u001b\[([0-9;:]*)([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[PX^_][\s\S]*?(?:\u001b\\|$)|\u001b[ -/]*[0-~]|\u001b|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;

/** A carriage return writes the line again from its start. */
function settleLines(text) {
  if (!text.includes("\r")) return text;
  return text.replace(/\r+\n/g, "\n").split("\n").map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1).replace(/\r+$/, "")).join("\n");
}

const CUBE = [0, 95, 135, 175, 215, 255];
const clamp = (value) => Math.max(0, Math.min(255, Number(value) || 0));

/** 0–15 are the page's own colours, by number; the others are #rrggbb. */
function colour256(value) {
  const n = clamp(value);
  if (n < 16) return n;
  if (n > 231) return hex(8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10);
  const at = n - 16;
  return hex(CUBE[Math.floor(at / 36)], CUBE[Math.floor(at / 6) % 6], CUBE[at % 6]);
}

const hex = (...parts) => `#${parts.map((part) => clamp(part).toString(16).padStart(2, "0")).join("")}`;

const ON = { 1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "reverse", 9: "strike" };
const OFF = { 22: ["bold", "faint"], 23: ["italic"], 24: ["underline"], 27: ["reverse"], 29: ["strike"] };

/** Takes the numbers of an SGR sequence into a style. */
function restyle(style, numbers) {
  const next = { ...style, on: new Set(style.on) };
  for (let i = 0; i < numbers.length; i += 1) {
    const n = numbers[i];
    if (n === 0) Object.assign(next, plain());
    else if (ON[n]) next.on.add(ON[n]);
    else if (OFF[n]) OFF[n].forEach((name) => next.on.delete(name));
    else if (n === 38 || n === 48) i = extended(next, numbers, i, n === 38 ? "fg" : "bg");
    else if (n === 39) next.fg = null;
    else if (n === 49) next.bg = null;
    else if ((n >= 30 && n <= 37) || (n >= 90 && n <= 97)) next.fg = n < 90 ? n - 30 : n - 82;
    else if ((n >= 40 && n <= 47) || (n >= 100 && n <= 107)) next.bg = n < 100 ? n - 40 : n - 92;
  }
  return next;
}

function extended(style, numbers, at, which) {
  if (numbers[at + 1] === 5) {
    style[which] = colour256(numbers[at + 2]);
    return at + 2;
  }
  if (numbers[at + 1] === 2) {
    style[which] = hex(numbers[at + 2], numbers[at + 3], numbers[at + 4]);
    return at + 4;
  }
  return at;
}

const plain = () => ({ fg: null, bg: null, on: new Set() });

/** [{ text, fg, bg, on }]: fg and bg are null, a number below 16, or "#rrggbb"; on is a list of names. */
export function parseAnsi(text) {
  const pieces = [];
  let style = plain();
  let from = 0;
  const settled = settleLines(text);
  const push = (until) => {
    if (until > from) pieces.push({ text: settled.slice(from, until), fg: style.fg, bg: style.bg, on: [...style.on] });
  };
  for (const found of settled.matchAll(SEQUENCE)) {
    push(found.index);
    from = found.index + found[0].length;
    if (found[2] === "m") style = restyle(style, found[1].split(/[;:]/).map(Number));
  }
  push(settled.length);
  return pieces;
}
