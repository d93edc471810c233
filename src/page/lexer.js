// Code as coloured pieces: a small lexer, and a table of languages. It is meant to help the eye; what
// it does not know is plain.

const words = (text) => new Set(text.split(" "));

const C_LIKE = { line: "//", block: ["/*", "*/"], quotes: `"'` };
const C_WORDS = "break case char const continue default do double else enum extern float for goto if inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false NULL";
const JS_WORDS = "async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new null of return set static super switch this throw true false try typeof undefined var void while with yield";

const LANGUAGES = {
  c: { ...C_LIKE, hash: true, words: words(C_WORDS) },
  cpp: { ...C_LIKE, hash: true, words: words(`${C_WORDS} auto catch class constexpr delete explicit final friend mutable namespace new noexcept nullptr operator override private protected public template this throw try typename using virtual`) },
  javascript: { ...C_LIKE, quotes: "\"'`", words: words(JS_WORDS) },
  typescript: { ...C_LIKE, quotes: "\"'`", words: words(`${JS_WORDS} abstract any as boolean declare enum implements interface keyof namespace never number private protected public readonly string type unknown`) },
  python: { line: "#", quotes: `"'`, triple: true, words: words("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False match case self") },
  rust: { ...C_LIKE, quotes: '"', words: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while") },
  go: { ...C_LIKE, quotes: "\"'`", words: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false error string int bool byte") },
  java: { ...C_LIKE, words: words("abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for if implements import instanceof int interface long native new null package private protected public record return short static super switch synchronized this throw throws true false try var void volatile while fun val when object override string using namespace async await") },
  shell: { line: "#", quotes: `"'`, variable: true, words: words("case do done elif else esac exit export fi for function if in local return select set shift then trap unset until while echo cd source") },
  json: { quotes: '"', keys: true, words: words("true false null") },
  yaml: { line: "#", quotes: `"'`, keys: true, words: words("true false null yes no on off") },
  toml: { line: "#", quotes: `"'`, keys: true, triple: true, words: words("true false") },
  css: { block: ["/*", "*/"], quotes: `"'`, keys: true, words: words("important and not from to media supports import keyframes") },
  sql: { line: "--", block: ["/*", "*/"], quotes: `"'`, isLoose: true, words: words("add all alter and as asc begin between by case check commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with") },
  lua: { line: "--", quotes: `"'`, words: words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while") },
  ruby: { line: "#", quotes: `"'`, words: words("alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield") },
  php: { ...C_LIKE, variable: true, words: words("abstract and array as break case catch class const continue declare default do echo else elseif extends final fn for foreach function global if implements include interface namespace new null or private protected public require return static switch throw trait true false try use var while") },
};

const ALIASES = { js: "javascript", mjs: "javascript", jsx: "javascript", ts: "typescript", tsx: "typescript", py: "python", rs: "rust", golang: "go", h: "c", "c++": "cpp", cc: "cpp", hpp: "cpp", kotlin: "java", kt: "java", csharp: "java", cs: "java", swift: "java", sh: "shell", bash: "shell", zsh: "shell", console: "shell", yml: "yaml", jsonc: "json", json5: "json", rb: "ruby", xml: "html", svg: "html", patch: "diff", scss: "css" };

const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)[a-zA-Z%]*/y;
const WORD = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
const PLAIN_WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const BLANK = /\s+/y;

/** [[kind, text], …]; kinds: "", comment, string, number, word, name, key, tag, add, remove */
export function lex(text, language) {
  const name = ALIASES[language] || language;
  if (name === "diff") return lexDiff(text);
  if (name === "html") return lexMarkup(text);
  const rules = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : null;
  return rules ? lexCode(text, rules) : [["", text]];
}

function lexDiff(text) {
  const kinds = { "+": "add", "-": "remove", "@": "name" };
  return text.split(/(?<=\n)/).map((line) => [kinds[line[0]] || "", line]);
}

function push(out, kind, text) {
  const last = out[out.length - 1];
  if (last && last[0] === kind) last[1] += text;
  else if (text) out.push([kind, text]);
}

function lexMarkup(text) {
  const out = [];
  const piece = /<!--[\s\S]*?(?:-->|$)|<\/?[a-zA-Z][\w:-]*|\/?>|"[^"\n]*"|'[^'\n]*'|[\w:-]+(?==)|[^<>"'=\w]+|./g;
  let inTag = false;
  for (const [token] of text.matchAll(piece)) {
    if (token.startsWith("<!--")) push(out, "comment", token);
    else if (/^<\/?[a-zA-Z]/.test(token)) {
      inTag = true;
      push(out, "tag", token);
    } else if (inTag && token.endsWith(">")) {
      inTag = false;
      push(out, "tag", token);
    } else push(out, !inTag ? "" : /^["']/.test(token) ? "string" : /^[\w:-]+$/.test(token) ? "key" : "", token);
  }
  return out;
}

function match(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] || "";
}

function lexCode(text, rules) {
  const out = [];
  let at = 0;
  while (at < text.length) {
    const [kind, length] = token(text, at, rules);
    push(out, kind, text.slice(at, at + length));
    at += length;
  }
  return out;
}

function token(text, at, rules) {
  const c = text[at];
  if (rules.line && text.startsWith(rules.line, at)) return ["comment", lineLength(text, at)];
  if (rules.block && text.startsWith(rules.block[0], at)) return ["comment", blockLength(text, at, rules.block)];
  if (rules.hash && c === "#") return ["name", lineLength(text, at)];
  if (rules.quotes && rules.quotes.includes(c)) return quoted(text, at, rules);
  if (rules.variable && c === "$") return ["name", Math.max(1, match(/\$(\{[^}\n]*\}?|\w+|.)/y, text, at).length)];
  if (c >= "0" && c <= "9") return ["number", match(NUMBER, text, at).length || 1];
  const blank = match(BLANK, text, at);
  if (blank) return ["", blank.length];
  const word = match(rules.keys ? WORD : PLAIN_WORD, text, at);
  return word ? [wordKind(text, at, word, rules), word.length] : ["", 1];
}

function lineLength(text, at) {
  const end = text.indexOf("\n", at);
  return (end < 0 ? text.length : end) - at;
}

function blockLength(text, at, [open, close]) {
  const end = text.indexOf(close, at + open.length);
  return (end < 0 ? text.length : end + close.length) - at;
}

function quoted(text, at, rules) {
  const quote = text[at];
  const triple = quote.repeat(3);
  if (rules.triple && text.startsWith(triple, at)) return ["string", blockLength(text, at, [triple, triple])];
  let end = at + 1;
  for (; end < text.length && text[end] !== quote; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "\n" && quote !== "`") break;
  }
  const length = Math.min(end + 1, text.length) - at;
  return [rules.keys && /^\s*:/.test(text.slice(at + length, at + length + 8)) ? "key" : "string", length];
}

function wordKind(text, at, word, rules) {
  if (rules.words.has(rules.isLoose ? word.toLowerCase() : word)) return "word";
  const rest = text.slice(at + word.length, at + word.length + 8);
  if (rules.keys && /^\s*[:=]/.test(rest)) return "key";
  return rest[0] === "(" ? "name" : "";
}
