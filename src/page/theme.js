// Light or dark: as the system has it, until the user says otherwise.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";

const KEY = "perch-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function isDark() {
  return (chosen() || (system.matches ? "dark" : "light")) === "dark";
}

function paint() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
}

function choose(theme) {
  try {
    if ((theme === "dark") === system.matches) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // a browser that keeps nothing follows the system
  }
  paint();
}

export function themeButton() {
  const button = h("button", { type: "button", class: "quiet", onclick: () => {
    choose(isDark() ? "light" : "dark");
    draw();
  } });
  const draw = () => {
    const label = isDark() ? "Light colours" : "Dark colours";
    button.title = label;
    button.setAttribute("aria-label", label);
    replace(button, icon(isDark() ? "sun" : "moon"));
  };
  system.addEventListener("change", () => {
    paint();
    draw();
  });
  paint();
  draw();
  return button;
}
