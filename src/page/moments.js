// Events put together as one reads them.

/** Pieces of one stream that follow each other are one entry. */
export function join(events) {
  const out = [];
  for (const event of events) {
    const last = out[out.length - 1];
    if (last && last.event === event.event && ["partial", "thinking", "output", "stderr"].includes(event.event)) last.text += event.text;
    else if (last && last.event === "progress" && event.event === "progress") Object.assign(last, event, { message: event.message ?? last.message });
    else out.push({ ...event });
  }
  return out;
}
