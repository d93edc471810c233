// Where a message is written: text, attachments by button, drop and paste.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { say } from "./notice.js";
import { size } from "./time.js";

const FILES_MAX = 16;
const BYTES_MAX = 5.5 * 1024 * 1024; // as base64 it has to fit into a request of 8 MiB

function readFile(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).replace(/^data:[^;,]*/, `data:${file.type || "application/octet-stream"}`));
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
}

export class Composer {
  /** send(text, attachments): whether it was taken; stop() */
  constructor(send, stop) {
    this.send = send;
    this.files = [];
    this.isBusy = false;
    this.input = h("textarea", { rows: 1, placeholder: "Write a message", "aria-label": "Message", dir: "auto",
      "aria-describedby": "composer-keys", oninput: () => this.grow(), onkeydown: (event) => this.key(event), onpaste: (event) => this.paste(event) });
    this.list = h("ul", { class: "attached", "aria-label": "Attachments" });
    this.picker = h("input", { type: "file", multiple: true, class: "offscreen", tabindex: "-1", "aria-hidden": "true",
      onchange: () => {
        this.add([...this.picker.files]);
        this.picker.value = "";
      } });
    this.sendButton = h("button", { class: "round primary", "aria-label": "Send", title: "Send (Enter)" }, icon("send"));
    this.stopButton = h("button", { type: "button", class: "round", "aria-label": "Stop", title: "Stop (Esc)", hidden: true, onclick: stop }, icon("stop"));
    this.note = h("p", { class: "composer-note", hidden: true });
    this.node = h("form", { class: "composer", onsubmit: (event) => {
      event.preventDefault();
      this.submit();
    } }, this.note, this.list, h("div", { class: "composer-line" },
      h("button", { type: "button", class: "round plain", "aria-label": "Attach files", title: "Attach files", onclick: () => this.picker.click() }, icon("clip")),
      this.picker, this.input, this.stopButton, this.sendButton),
    h("p", { id: "composer-keys", class: "composer-keys" }, "Enter sends, Shift+Enter begins a line. Files can be dropped or pasted."));
    this.stop = stop;
  }

  /** Files may be dropped anywhere on this node. */
  acceptDrops(node) {
    node.addEventListener("dragover", (event) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      node.classList.add("dropping");
    });
    node.addEventListener("dragleave", (event) => {
      if (!node.contains(event.relatedTarget)) node.classList.remove("dropping");
    });
    node.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      node.classList.remove("dropping");
      this.add([...event.dataTransfer.files]);
    });
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "Escape" && this.isBusy) this.stop();
    else if (event.key === "Escape" && !this.note.hidden) this.edit("", false);
    else if (event.key === "ArrowUp" && !this.input.value && this.editLast) {
      event.preventDefault();
      this.editLast();
    }
  }

  paste(event) {
    const files = [...event.clipboardData.files];
    if (!files.length) return;
    event.preventDefault();
    this.add(files);
  }

  add(files) {
    for (const file of files) {
      const bytes = this.files.reduce((sum, other) => sum + other.size, 0);
      if (this.files.length >= FILES_MAX) return say(`A message takes ${FILES_MAX} files at most`, "error");
      if (bytes + file.size > BYTES_MAX) {
        say(`“${file.name}” does not fit: all files together may have ${size(BYTES_MAX)}`, "error");
        continue;
      }
      const entry = { name: file.name || "pasted", size: file.size, type: file.type, url: "" };
      this.files.push(entry);
      entry.reading = this.read(entry, file);
    }
    this.drawFiles();
    this.input.focus();
    return undefined;
  }

  async read(entry, file) {
    try {
      entry.url = await readFile(file);
    } catch (error) {
      this.files = this.files.filter((other) => other !== entry);
      say(`“${file.name}” cannot be read: ${error.message}`, "error");
    }
    this.drawFiles();
  }

  drawFiles() {
    replace(this.list, this.files.map((file) => h("li", null,
      /^data:image\/(?!svg)/.test(file.url) ? h("img", { src: file.url, alt: "" }) : icon("clip"),
      h("span", null, file.name), h("small", null, size(file.size)),
      h("button", { type: "button", class: "quiet", "aria-label": `Remove ${file.name}`, onclick: () => {
        this.files = this.files.filter((other) => other !== file);
        this.drawFiles();
      } }, icon("close")))));
  }

  /** The browser lays it out by its text: a style of its own is not needed where it can. */
  grow() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, innerHeight * 0.4)}px`;
  }

  /** Puts a text there to be changed and sent. */
  edit(text, isEdit = true) {
    this.input.value = text;
    this.note.hidden = !isEdit;
    this.note.textContent = "Editing: it is sent as a new message of this conversation. Esc gives it up.";
    this.grow();
    this.input.focus();
  }

  async submit() {
    const text = this.input.value;
    if (!text.trim() && !this.files.length) return;
    const files = this.files;
    this.edit("", false);
    this.files = [];
    this.drawFiles();
    await Promise.all(files.map((file) => file.reading));
    if (await this.send(text, files.filter((file) => file.url))) return;
    this.edit([text, this.input.value].filter(Boolean).join("\n"), false); // what was written meanwhile stays
    this.files = [...files, ...this.files];
    this.drawFiles();
  }

  busy(isBusy) {
    this.isBusy = isBusy;
    this.stopButton.hidden = !isBusy;
  }
}
