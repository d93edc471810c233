// Plays scenes, some at a time, each with a place, a server and a browser's context of its own:
//
//     node chat.mjs DIRECTORY [SCENE…]
//
// writes DIRECTORY/SCENE.log, with what is to know of a failure, and DIRECTORY/SCENE.ok where there was none.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { Browser, closeChromium } from "./browser.mjs";
import { makePlace } from "./place.mjs";

const LANES = Number(process.env.PERCH_PAGE_LANES || 3);

export function assert(condition, words) {
  if (!condition) throw new Error(`not so: ${words}`);
}

/** A server and a browser for a scene; what they said is part of its error. */
async function stage(place, scene) {
  const server = place.server();
  const browser = new Browser();
  try {
    await server.start();
    await browser.open();
    await scene(server, browser);
    browser.check();
  } catch (error) {
    error.message += `\n--- the server\n${server.log}\n--- the browser\n${await browser.seen()}`;
    throw error;
  } finally {
    await browser.close();
    await server.stop("SIGKILL");
  }
}

async function playOne(directory, name, scene) {
  const since = Date.now();
  let words = "";
  try {
    const place = makePlace(join(directory, name));
    await scene({ ...place, stage: (played) => stage(place, played) });
    writeFileSync(join(directory, `${name}.ok`), "");
  } catch (error) {
    words = `${error.message}\n${inspect(error)}\n`;
  }
  writeFileSync(join(directory, `${name}.log`), `${words}${name} took ${((Date.now() - since) / 1000).toFixed(1)} s\n`);
}

/** Plays those that the command line names; all without. */
export async function play(scenes) {
  const [directory, ...wanted] = process.argv.slice(2);
  const names = wanted.length ? wanted : Object.keys(scenes);
  mkdirSync(directory, { recursive: true });
  const lane = async () => {
    for (let name = names.shift(); name; name = names.shift()) await playOne(directory, name, scenes[name]);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await closeChromium();
  process.exit(0);
}
