// The page's pictures: strokes on a field of 24 by 24.

import { svg } from "./dom.js";

const STROKES = {
  chat: "M4 5h16v11H9l-5 4z",
  plugins: "M9 4v4m6-4v4M6 8h12v4a6 6 0 0 1-12 0zm6 10v3",
  tools: "M20.5 7.5a5 5 0 0 1-6.6 5.8L7 20.2a2.3 2.3 0 0 1-3.2-3.2l6.9-6.9A5 5 0 0 1 16.5 3.5L13.5 6.5l.8 3.2 3.2.8z",
  now: "M3 12h4l3-7 4 14 3-7h4",
  access: "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5zm7 4v2",
  plus: "M12 5v14M5 12h14",
  send: "M12 20V5m-6 6 6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "m5 12 5 5 9-10",
  retry: "M19 12a7 7 0 1 1-2-5l2 2m0-5v5h-5",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  trash: "M5 7h14M10 7V4h4v3m3 0-1 13H8L7 7m3 4v6m4-6v6",
  clip: "m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.5 3.5 0 0 1 5 5l-8.5 8.5a2 2 0 0 1-3-3L14 7",
  close: "m6 6 12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14m5 12 5 5",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8m0-6v2m0 16v2M2 12h2m16 0h2M5 5l1.4 1.4m11.2 11.2L19 19M5 19l1.4-1.4M17.6 6.4 19 5",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  back: "m14 6-6 6 6 6",
  leave: "M10 4H5v16h5m4-4 4-4-4-4m4 4H9",
  warn: "M12 4 2 20h20zm0 6v4m0 3v.01",
  play: "M8 5v14l11-7z",
};

export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: STROKES[name] }));
}

/** A bird on its perch. */
export function emblem() {
  return svg("svg", { class: "emblem", viewBox: "0 0 32 32", "aria-hidden": "true", focusable: "false" },
    svg("path", { class: "emblem-bird",
      d: "M7 8c4-3 9-2 11 2 1 2 2 3 5 3-1 5-4 8-9 8-5 0-8-4-7-9l-4-2z" }),
    svg("circle", { class: "emblem-eye", cx: "11", cy: "10.5", r: "1.2" }),
    svg("path", { class: "emblem-perch", d: "M3 26h26M13 21v5m4-5v5" }));
}
