// The page's modules that touch no page, in node: Markdown, lexer, ANSI, schemas, the state of a turn.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

const page = join(process.env.PERCH_SOURCE, "src/page");
const load = (name) => import(join(page, name));
const { parse } = await load("markdown.js");
const { parseInline } = await load("markdown_inline.js");
const { lex } = await load("lexer.js");
const { parseAnsi } = await load("ansi.js");
const schema = await load("schema.js");
const { failure, hear, newState, usageWords } = await load("turn.js");
const { EventCutter, EventStream } = await load("stream.js");
const { pathOf, roundUp } = await load("plot.js");
const { sentenceEnd } = await load("announcer.js");
const { ago, size, span } = await load("time.js");
const { splitWords } = await load("words.js");
const { join: joinEvents } = await load("moments.js");

const plain = (nodes) => nodes.map((node) => (node.inline ? `${node.type}(${plain(node.inline)})` : node.type === "text" ? node.text : `${node.type}(${node.text ?? ""})`)).join("");
const inline = (text) => plain(parseInline(text));
const types = (text) => parse(text).map((block) => block.type).join(" ");

test("inside a paragraph", () => {
  const cases = {
    "a *b* c": "a em(b) c", "**b**": "strong(b)", "***b***": "em(strong(b))", "a_b_c": "a_b_c", "_b_": "em(b)", "~~x~~": "strike(x)",
    "2 * 3 * 4": "2 * 3 * 4", "`a*b*`": "code(a*b*)", "``a`b``": "code(a`b)", "`open": "`open", "\\*a\\*": "*a*", "&lt;b&gt; &#65; &bad;": "<b> A &bad;",
    "[a](https://x.y)": "link(a)", "[a *b*](https://x.y)": "link(a em(b))", "[a]": "[a]", "[a](b c)": "[a](b c)", "![p](https://x.y/z.png)": "image(p)",
    "<https://x.y>": "link(https://x.y)", "see https://x.y/a_b_c.": "see link(https://x.y/a_b_c).", "(https://x.y/a_(b))": "(link(https://x.y/a_(b)))",
    "a  \nb": "abreak()b", "a\\\nb": "abreak()b", "**a *b* c**": "strong(a em(b) c)", "*a **b** c*": "em(a strong(b) c)", "<b>x</b>": "<b>x</b>",
  };
  for (const [text, wanted] of Object.entries(cases)) assert.equal(inline(text), wanted, text);
});

test("blocks", () => {
  assert.equal(types("# a\n\nb\nc\n\n- d\n- e\n\n1. f\n\n> g\n\n---\n\n```js\nx\n```\n\n    code\n\n|a|b|\n|-|-|\n|1|2|\n"),
    "heading paragraph list list quote rule code code table");
  assert.equal(types("a\n==="), "heading");
  const [list] = parse("- a\n  - b\n    - c\n- [x] d\n- [ ] e\n");
  assert.equal(list.items.length, 3);
  assert.equal(list.items[0].blocks[1].items[0].blocks[1].type, "list");
  assert.deepEqual(list.items.map((item) => item.task), [null, true, false]);
  assert.equal(parse("3. c\n4. d")[0].start, 3);
  const [table] = parse("| a | b\\|c | d |\n|:--|:-:|--:|\n| 1 | 2 |\n");
  assert.deepEqual(table.aligns, ["start", "center", "end"]);
  assert.equal(plain(table.head[1]), "b|c");
  const [code] = parse("~~~~ Python x\n~~~\ny");
  assert.deepEqual([code.language, code.text, code.isOpen], ["python", "~~~\ny", true]);
});

test("a text that grows changes its last block alone", () => {
  const text = readFileSync(join(process.env.PERCH_SOURCE, "tests/page/reply.md"), "utf8");
  const whole = parse(text).map(({ from, ...block }) => JSON.stringify(block));
  let settled = 0;
  const blocks = [];
  for (let end = 1; end <= text.length; end += 7) {
    const until = Math.min(end, text.length);
    const found = parse(text.slice(settled, until));
    blocks.splice(Math.max(0, blocks.length - 1), 1);
    blocks.push(...found);
    if (found.length) settled += found[found.length - 1].from;
  }
  const rest = parse(text.slice(settled));
  blocks.splice(Math.max(0, blocks.length - 1), 1, ...rest);
  assert.deepEqual(blocks.map(({ from, ...block }) => JSON.stringify(block)), whole);
});

test("hostile texts come to an end", () => { // what takes square time here takes hours
  const texts = ["*".repeat(500000), "[".repeat(500000), "*a ".repeat(20000), `${"`".repeat(3)}${"a`".repeat(30000)}`, `${"> ".repeat(5000)}x`, "- ".repeat(5000), "a**b".repeat(20000),
    `${"![".repeat(20000)}${"](".repeat(2000)}`, `${"|a".repeat(9000)}\n${"|-".repeat(9000)}|\n${`${"|x".repeat(9)}\n`.repeat(999)}`, "https://".repeat(20000), "&#".repeat(30000), "<".repeat(50000), `${"- a\n".repeat(5000)}`,
    "_".repeat(9) + "a_ ".repeat(20000), "~".repeat(50000), "\\".repeat(50000), "1. ".repeat(9000)];
  for (const text of texts) assert.ok(parse(text).length > 0);
});

test("the lexer gives back every character", () => {
  const code = 'int main(void) { // "no"\n\treturn 0x1f + \'a\'; /* x\n */ }\n#include <x>\n"""a\n"""\n`t ${x}`\n$A ${B}\n<a href="b">c</a>\n+ add\n- del\nkey: 1\n"k": null\n\u2028é';
  for (const language of ["c", "cpp", "js", "ts", "python", "rust", "go", "java", "sh", "json", "yaml", "toml", "css", "sql", "lua", "ruby", "php", "html", "diff", "", "unknown", "constructor", "__proto__"])
    assert.equal(lex(code, language).map(([, text]) => text).join(""), code, language);
  const kinds = (text, language) => lex(text, language).filter(([kind]) => kind).map(([kind, piece]) => `${kind}:${piece}`).join(" ");
  assert.equal(kinds('if x == 1: # no "s"\n  f("a")', "python"), 'word:if number:1 comment:# no "s" name:f string:"a"');
  assert.equal(kinds('{"a": [1, true, "b"]}', "json"), 'key:"a" number:1 word:true string:"b"');
  assert.equal(kinds("SELECT * FROM t -- all", "sql"), "word:SELECT word:FROM comment:-- all");
});

test("colours of programs", () => {
  const pieces = parseAnsi("\u001b[1;31mred\u001b[0m \u001b[38;5;196mx\u001b[48;2;1;2;3my\u001b[m\u001b]8;;javascript:x\u0007link\u001b]8;;\u0007 \u001b[2Kz\u0007");
  assert.deepEqual(pieces.map(({ text, fg, bg, on }) => [text, fg, bg, on.join()]),
    [["red", 1, null, "bold"], [" ", null, null, ""], ["x", "#ff0000", null, ""], ["y", "#ff0000", "#010203", ""], ["link", null, null, ""], [" ", null, null, ""], ["z", null, null, ""]]);
  assert.equal(parseAnsi("10%\r50%\r100%\nnext\r\n").map((piece) => piece.text).join(""), "100%\nnext\n");
  assert.equal(parseAnsi("\u001b[999999999m\u001b[38;5m\u001b[;;;mok\u001b[").map((piece) => piece.text).join(""), "ok");
});

test("schemas: kinds, references, what is wrong", () => {
  const root = { type: "object", required: ["a"], $defs: { n: { type: "integer", minimum: 2 } }, properties: {
    a: { $ref: "#/$defs/n" }, b: { type: "array", items: { enum: ["x", "y"] }, maxItems: 2 }, c: { allOf: [{ type: "string" }, { minLength: 2 }] },
    d: { oneOf: [{ const: 1, title: "one" }, { const: 2 }] }, e: { type: ["string", "null"] }, f: { type: "object" }, g: { type: "string", format: "email" }, h: { type: "string", pattern: "(a+)+$" } } };
  const kind = (name) => schema.kindOf(schema.resolve(root.properties[name], root));
  assert.deepEqual(["a", "b", "c", "d", "e", "f"].map(kind), ["integer", "array", "string", "enum", "string", "json"]);
  assert.deepEqual(schema.options(root.properties.d), [[1, "one"], [2, "2"]]);
  const wrong = (value) => schema.check(root, value).map(([path, words]) => `${path} ${words}`);
  assert.deepEqual(wrong({}), ["/a is needed"]);
  assert.deepEqual(wrong({ a: 1, b: ["x", "z", "y"], c: "q", g: "no", h: `${"a".repeat(40)}!` }),
    ["/a must be 2 at least", "/b may have 2 at most", "/b/1 must be one of the choices", "/c must have 2 characters at least", "/g must be an e-mail address"]);
  assert.deepEqual(wrong({ a: 3, b: ["x"], d: 2 }), []);
  const loop = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
  assert.equal(schema.kindOf(schema.resolve(loop, loop)), "json");
  assert.equal(schema.kindOf(schema.resolve({ $ref: "#/__proto__/polluted" }, {})), "json");
});

test("what the events of a job come to", () => {
  const state = newState("turn");
  const tell = (event, more) => hear(state, { event, ...more });
  tell("start");
  tell("partial", { text: "a" });
  tell("tool", { tool: { id: "1", title: "Read", status: "in_progress" } });
  tell("tool", { tool: { id: "1", status: "completed", content: [{ content: { text: "x" } }] } });
  tell("plan", { plan: { entries: [{ content: "step", status: "pending" }] } });
  tell("tool", { tool: null });
  tell("plan", {});
  tell("partial", { text: "b" });
  tell("thinking", { text: "hm" });
  tell("permission", { ask: 1, tool_name: "bash", options: [{ id: "o", name: "Once", kind: "allow_once" }] });
  tell("withdraw", { ask: 1 });
  tell("usage", { usage: { input_tokens: 1200, output_tokens: 3 } });
  tell("constructor", {});
  assert.deepEqual(state.parts.map((part) => part.type), ["text", "activity", "activity", "text", "ask"]);
  assert.deepEqual([state.parts[1].title, state.parts[1].status], ["Read", "completed"]);
  assert.equal(state.text, "ab");
  assert.ok(state.asks[0].answer.withdrawn);
  assert.equal(usageWords(state.usage), "1,200 tokens in, 3 out");
  assert.equal(usageWords({ used: 1000, size: 2000 }), "1,000 of 2,000 tokens of its context");
  assert.equal(failure(state), null);
  tell("error", { message: "no", code: "x" });
  tell("end", { success: false, exit_code: 3, stderr_tail: "boom" });
  assert.deepEqual(failure(state), { title: "It failed", message: "no", hint: "", stderr: "boom", isMild: false });
  const cut = newState("turn");
  hear(cut, { event: "end", success: false, state: "interrupted" });
  assert.equal(failure(cut).title, "The server died while this ran");
});

test("streams are cut into events wherever the pieces end", () => {
  const text = ': still here\n\nid: 7\ndata: {"event":"partial","text":"a\\n\\nb"}\n\nid: 8\ndata: no json\n\nid: 9\ndata: {"event":"end"}\n\n';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const cutter = new EventCutter();
    const events = [...cutter.take(text.slice(0, cut)), ...cutter.take(text.slice(cut))];
    assert.deepEqual(events.map((event) => [event.number, event.event]), [[7, "partial"], [9, "end"]]);
  }
});

test("a stream that ends is asked for again, behind its last event; a stranger is not", async () => {
  const asked = [];
  const bodies = ['id: 7\ndata: {"event":"start"}\n\n', 'id: 9\ndata: {"event":"end"}\n\n'];
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async (path, { headers }) => {
    asked.push(headers["Last-Event-ID"]);
    if (asked.length === 2) throw new TypeError("the network is away");
    return bodies.length ? new Response(bodies.shift(), { status: 200 }) : new Response("", { status: 401 });
  };
  const heard = [];
  const states = [];
  await new Promise((done) => {
    const stream = new EventStream((events) => heard.push(...events.map((event) => event.event)), (state) => {
      states.push(state);
      if (state === "away") stream.hurry();
      if (state === "stranger") done();
    });
    stream.start();
  });
  globalThis.fetch = fetchBefore;
  assert.deepEqual(asked, [undefined, "7", "7", "9"]);
  assert.deepEqual(heard, ["start", "end"]);
  assert.ok(states.includes("open") && states.includes("away"));
});

test("small things", () => {
  assert.deepEqual([0, 3, 10, 11, 499].map(roundUp), [1, 5, 10, 20, 500]);
  assert.equal(pathOf([1, null, 1, 1], 1).replace(/[\d. ]/g, ""), "MhML");
  assert.equal(sentenceEnd("One. Two", 0), 4);
  assert.equal(sentenceEnd("One. Two", 4), 4);
  assert.deepEqual([span(0.2), span(250), span(61000), size(2048), ago(0, 90)], ["under 1 ms", "250 ms", "1 min 1 s", "2.0 KiB", "2 min ago"]);
  assert.deepEqual(splitWords(`a "b c" 'd "e"' f\\ g h"i"j ""`), ["a", "b c", 'd "e"', "f g", "hij", ""]);
  assert.deepEqual(joinEvents([{ event: "partial", text: "a" }, { event: "partial", text: "b" }, { event: "end" }]).map((event) => event.text), ["ab", undefined]);
});

test("no file of the page makes HTML from text, or runs it", () => {
  for (const name of readdirSync(page).filter((file) => file.endsWith(".js"))) {
    const text = readFileSync(join(page, name), "utf8");
    const found = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\s*\(|new Function|createContextualFragment|DOMParser|srcdoc|setHTML/.exec(text);
    assert.equal(found, null, `${name}: ${found}`);
    assert.ok(text.split("\n").length <= 400, `${name} has more than 400 lines`);
  }
});
