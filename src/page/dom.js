// Elements. Text is text: nothing here, or anywhere in the page, reads foreign data as HTML.

const SVG = "http://www.w3.org/2000/svg";

function put(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") node.addEventListener(name.slice(2), value);
  else if (name === "class") node.setAttribute("class", value);
  else if (name === "value" || name === "checked") node[name] = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}

function fill(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** h("button", { class: "plain", onclick: f }, "Save") */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const name in props) put(node, name, props[name]);
  return fill(node, children);
}

export function svg(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const name in props) put(node, name, props[name]);
  return fill(node, children);
}

export function replace(node, ...children) {
  node.textContent = "";
  return fill(node, children);
}

/** A table that scrolls in itself where it is too wide. */
export function table(label, heads, rows) {
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": label },
    h("table", null, h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head || h("span", { class: "offscreen" }, "Actions"))))), h("tbody", null, rows)));
}

/** A link to another site, or the bare words where its address is none that may be followed. */
export function link(address, ...children) {
  const url = safeAddress(address);
  if (!url) return h("span", { class: "dead-link", title: "This link is not shown" }, ...children);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
}

export function safeAddress(address) {
  const text = String(address).trim();
  return /^(https?:\/\/|mailto:)[^\s\u0000-\u001f]+$/i.test(text) ? text : null;
}

/** Calls f once, `wait` milliseconds behind the last call. */
export function later(wait, f) {
  let timer = 0;
  return (...words) => {
    clearTimeout(timer);
    timer = setTimeout(f, wait, ...words);
  };
}

/** Calls f at most once in `wait` milliseconds, and behind the last call for certain. */
export function steadily(wait, f) {
  let timer = 0;
  let last = 0;
  return () => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = 0;
      last = performance.now();
      f();
    }, Math.max(0, last + wait - performance.now()));
  };
}

/** Answers may overtake one another: that of the newest question alone counts, undefined stands for the others. */
export function newest() {
  let asked = 0;
  return async (answer) => {
    asked += 1;
    const mine = asked;
    const found = await answer;
    return mine === asked ? found : undefined;
  };
}

let number = 0;
export function freshId(what) {
  number += 1;
  return `${what}-${number}`;
}
