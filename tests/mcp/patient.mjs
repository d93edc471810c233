// Makes every short wait of a program ten times as long: for judges, on a machine that is slow.

const plain = globalThis.setTimeout;
globalThis.setTimeout = (work, delay, ...words) => plain(work, delay < 10000 ? delay * 10 : delay, ...words);
