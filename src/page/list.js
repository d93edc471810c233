// A long list of which only what is seen is on the page. Items are { make(): Node }; what they measure is
// remembered. Where the reader looks stays where it is, whatever grows above; at the end the list stays
// at the end.

import { h } from "./dom.js";

const MARGIN_PX = 800; // made before it is seen
const GUESS_PX = 120;
const NEAR_END_PX = 48;

export class VirtualList {
  /** near() is called when the beginning comes into sight. */
  constructor(label, near = () => {}) {
    this.items = [];
    this.near = near;
    this.isPinned = true;
    this.measured = 0;
    this.total = 0;
    this.top = h("div", { "aria-hidden": "true" });
    this.body = h("div", { class: "list-body" });
    this.bottom = h("div", { "aria-hidden": "true" });
    this.node = h("div", { class: "list", tabindex: "0", role: "region", "aria-label": label,
      onscroll: () => this.scrolled() }, this.top, this.body, this.bottom);
    this.sizes = new ResizeObserver((entries) => this.resized(entries));
    this.sizes.observe(this.node);
    this.first = 0;
    this.end = 0;
    this.frame = 0;
  }

  /** Other items altogether. */
  set(items) {
    for (const item of this.items) this.drop(item);
    this.items = [...items];
    this.first = this.end = 0;
    this.isPinned = true;
    this.layout();
  }

  has(item) {
    return this.items.includes(item);
  }

  append(...items) {
    this.items.push(...items);
    this.layout();
  }

  prepend(items) {
    const anchor = this.anchor();
    this.items.unshift(...items);
    this.first += items.length;
    this.end += items.length;
    this.layout(anchor);
  }

  remove(item) {
    const at = this.items.indexOf(item);
    if (at < 0) return;
    const anchor = this.anchor();
    this.drop(item);
    this.items.splice(at, 1);
    if (at < this.first) this.first -= 1;
    if (at < this.end) this.end -= 1;
    this.layout(anchor);
  }

  toEnd() {
    this.isPinned = true;
    this.layout();
  }

  /* ---- measures ------------------------------------------------------------------------ */

  guess() {
    return this.measured ? this.total / this.measured : GUESS_PX;
  }

  heightOf(item) {
    return item.height || this.guess();
  }

  note(item, height) {
    if (item.height) this.total -= item.height;
    else this.measured += 1;
    item.height = height;
    this.total += height;
  }

  resized(entries) {
    let changed = false;
    for (const entry of entries) {
      const item = entry.target.listItem;
      const height = entry.target.offsetHeight;
      if (item && height && Math.abs(height - (item.height || 0)) > 0.5) {
        this.note(item, height);
        changed = true;
      } else if (!item) changed = true;
    }
    if (changed) this.grown();
  }

  /** In the frame in which it was measured, if what is there stays: another frame costs as much as the first. */
  grown() {
    const [first, end] = this.range();
    if (first !== this.first || end !== this.end || !this.isPinned) {
      this.soon();
      return;
    }
    this.pad();
    this.hold(null);
  }

  soon() {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.layout();
      });
    }
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.node;
    if (this.expected !== undefined && Math.abs(scrollTop - this.expected) < 2) {
      this.expected = undefined;
      return;
    }
    this.isPinned = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    this.soon();
  }

  /* ---- layout ---------------------------------------------------------------------------- */

  /** The first item in sight, and where it stands. */
  anchor() {
    if (this.isPinned) return null;
    const top = this.node.getBoundingClientRect().top;
    for (let i = this.first; i < this.end; i += 1) {
      const box = this.items[i].node.getBoundingClientRect();
      if (box.bottom > top) return { item: this.items[i], offset: box.top - top };
    }
    return null;
  }

  layout(anchor = this.anchor()) {
    if (!this.node.clientHeight) return;
    for (let pass = 0; pass < 3; pass += 1) {
      const [first, end] = this.range();
      const fresh = this.mount(first, end);
      this.pad();
      this.hold(anchor);
      if (!fresh) break;
    }
    if (this.first === 0 && this.node.scrollTop < MARGIN_PX) this.near();
  }

  /** Which items are to be there, by where it is scrolled to. */
  range() {
    const height = this.node.clientHeight;
    const sum = this.items.reduce((all, item) => all + this.heightOf(item), 0);
    const at = this.isPinned ? Math.max(0, sum - height) : this.node.scrollTop;
    let first = 0;
    let y = 0;
    while (first < this.items.length && y + this.heightOf(this.items[first]) < at - MARGIN_PX) {
      y += this.heightOf(this.items[first]);
      first += 1;
    }
    let end = first;
    while (end < this.items.length && y < at + height + MARGIN_PX) {
      y += this.heightOf(this.items[end]);
      end += 1;
    }
    return [first, end];
  }

  /** How many were made that had no measure. */
  mount(first, end) {
    for (let i = this.first; i < this.end; i += 1) if (i < first || i >= end) this.drop(this.items[i]);
    let fresh = 0;
    let before = null;
    for (let i = end - 1; i >= first; i -= 1) {
      const item = this.items[i];
      if (!item.node) this.make(item);
      if (item.node.parentNode !== this.body || item.node.nextSibling !== before) this.body.insertBefore(item.node, before);
      before = item.node;
    }
    for (let i = first; i < end; i += 1) {
      if (this.items[i].height) continue;
      this.note(this.items[i], this.items[i].node.offsetHeight || 1);
      fresh += 1;
    }
    this.first = first;
    this.end = end;
    return fresh;
  }

  make(item) {
    item.node = item.make();
    item.node.listItem = item;
    this.sizes.observe(item.node);
  }

  drop(item) {
    if (!item.node) return;
    this.sizes.unobserve(item.node);
    item.node.remove();
    item.node = null;
  }

  pad() {
    let above = 0;
    let below = 0;
    for (let i = 0; i < this.first; i += 1) above += this.heightOf(this.items[i]);
    for (let i = this.end; i < this.items.length; i += 1) below += this.heightOf(this.items[i]);
    this.top.style.height = `${above}px`;
    this.bottom.style.height = `${below}px`;
  }

  hold(anchor) {
    const before = this.node.scrollTop;
    if (this.isPinned) this.node.scrollTop = this.node.scrollHeight;
    else if (anchor && anchor.item.node) {
      const top = anchor.item.node.getBoundingClientRect().top - this.node.getBoundingClientRect().top;
      if (Math.abs(top - anchor.offset) > 0.5) this.node.scrollTop += top - anchor.offset;
    }
    if (this.node.scrollTop !== before) this.expected = this.node.scrollTop;
  }
}
