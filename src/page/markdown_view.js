// Markdown on the page. A reply that grows is drawn again from its last block on: the blocks before it
// cannot change any more.

import { h, link, safeAddress, replace } from "./dom.js";
import { copyButton } from "./clipboard.js";
import { lex } from "./lexer.js";
import { parse } from "./markdown.js";

const LEX_MAX = 60000;

const inlineViews = {
  text: (node) => node.text,
  code: (node) => h("code", { dir: "ltr" }, node.text),
  strong: (node) => h("strong", null, viewInline(node.inline)),
  em: (node) => h("em", null, viewInline(node.inline)),
  strike: (node) => h("s", null, viewInline(node.inline)),
  link: (node) => link(node.address, viewInline(node.inline.length ? node.inline : [{ type: "text", text: node.address }])),
  image: viewImage,
  break: () => h("br"),
};

function viewInline(nodes) {
  return nodes.map((node) => inlineViews[node.type](node));
}

function plain(nodes) {
  return nodes.map((node) => node.text || plain(node.inline || [])).join("");
}

/** Pictures of other sites are not fetched: they would tell them who reads. */
function viewImage(node) {
  const words = plain(node.inline) || "picture";
  if (/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(node.address))
    return h("img", { src: node.address, alt: words, class: "picture" });
  return safeAddress(node.address) ? link(node.address, `🖼 ${words}`) : words;
}

function viewCode(block) {
  const code = h("code", null, viewTokens(block.text, block.language));
  return h("figure", { class: "code" },
    h("figcaption", null, h("span", null, block.language || "text"), copyButton(() => block.text, "Copy the code")),
    h("pre", { dir: "ltr", tabindex: "0", "aria-label": `Code${block.language ? ` in ${block.language}` : ""}` }, code));
}

export function viewTokens(text, language) {
  if (text.length > LEX_MAX) return text;
  return lex(text, language).map(([kind, piece]) => (kind ? h("span", { class: `lex-${kind}` }, piece) : piece));
}

function viewItem(item, isLoose) {
  const blocks = item.blocks.map((block) =>
    (!isLoose && block.type === "paragraph" ? viewInline(block.inline) : viewBlock(block)));
  if (item.task === null) return h("li", { dir: "auto" }, blocks);
  return h("li", { dir: "auto", class: "task" },
    h("input", { type: "checkbox", disabled: true, checked: item.task, "aria-label": item.task ? "done" : "to do" }), blocks);
}

function viewTable(block) {
  const cell = (tag) => (inline, i) => h(tag, { class: `align-${block.aligns[i]}`, dir: "auto" }, viewInline(inline));
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" },
    h("table", null,
      h("thead", null, h("tr", null, block.head.map(cell("th")))),
      h("tbody", null, block.rows.map((row) => h("tr", null, row.map(cell("td")))))));
}

const blockViews = {
  paragraph: (block) => h("p", { dir: "auto" }, viewInline(block.inline)),
  heading: (block) => h(`h${Math.min(block.level + 2, 6)}`, { dir: "auto" }, viewInline(block.inline)),
  code: viewCode,
  quote: (block) => h("blockquote", { dir: "auto" }, block.blocks.map(viewBlock)),
  list: (block) => h(block.isOrdered ? "ol" : "ul", block.isOrdered && block.start !== 1 ? { start: block.start } : null,
    block.items.map((item) => viewItem(item, block.isLoose))),
  table: viewTable,
  rule: () => h("hr"),
};

function viewBlock(block) {
  return blockViews[block.type](block);
}

/** A text as Markdown; set() again as it grows. */
export class MarkdownView {
  constructor() {
    this.node = h("div", { class: "prose" });
    this.text = "";
    this.settled = 0; // the offset of the last block, and its node
    this.last = [];
  }

  set(text) {
    if (text === this.text) return;
    if (!text.startsWith(this.text)) {
      replace(this.node);
      this.settled = 0;
      this.last = [];
    }
    this.text = text;
    for (const node of this.last) node.remove();
    const blocks = parse(text.slice(this.settled));
    const nodes = blocks.map(viewBlock);
    this.node.append(...nodes);
    this.last = nodes.slice(-1);
    if (blocks.length) this.settled += blocks[blocks.length - 1].from;
  }
}
