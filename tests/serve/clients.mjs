// OpenAI's client of npm and the AI SDK against the gateway: `clients.mjs PORT TOKEN WORK SET`.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [port, token, work, set] = process.argv.slice(2);
const require = createRequire(set + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { default: OpenAI } = await load("openai");
const { generateText, streamText } = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");

const baseURL = `http://127.0.0.1:${port}/v1`;
const api = new OpenAI({ baseURL, apiKey: token });
const said = "partly said hi from me in ";
const messages = [{ role: "user", content: "hi" }];
const runs = () => readFileSync(work + "/runs", "utf8").split("\n").length - 1;

const models = [];
for await (const model of api.models.list()) models.push(model.id);
assert.deepEqual(models, ["echo", "fail", "slow"]);

const whole = await api.chat.completions.create({ model: "echo", messages });
assert(whole.choices[0].message.content.startsWith(said));

const stream = api.chat.completions.stream({ model: "echo", messages });
assert((await stream.finalContent()).startsWith(said));

const response = await api.responses.create({ model: "echo", input: "hi" });
assert(response.output_text.startsWith(said));
const told = api.responses.stream({ model: "echo", input: "hi" });
assert((await told.finalResponse()).output_text.startsWith(said));

await assert.rejects(api.chat.completions.create({ model: "none", messages }), OpenAI.NotFoundError);
await assert.rejects(api.chat.completions.create({ model: "echo", messages, n: 2 }), OpenAI.BadRequestError);
await assert.rejects(api.chat.completions.create({ model: "fail", messages }), OpenAI.InternalServerError);
assert.equal(runs(), 1, "a failing agent runs once");

const slow = await api.chat.completions.create({ model: "slow", messages, stream: true });
for await (const chunk of slow) {
  if (chunk.choices[0].delta.content) break;
}
slow.controller.abort();
const running = async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/api/jobs?state=running`, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.json()).jobs.length;
};
for (let i = 0; (await running()) && i < 600; i++) await sleep(100);
assert.equal(await running(), 0, "an abort cancels the turn");

// A client that waits too short repeats, and joins: the agent runs once. It tells of a timeout that
// a request has, not of its own.
const started = () => readFileSync(work + "/started", "utf8").split("\n").length - 1;
const before = started();
const impatient = new OpenAI({ baseURL, apiKey: token, maxRetries: 1 });
await assert.rejects(impatient.chat.completions.create(
  { model: "slow", messages }, { timeout: 1000 }), OpenAI.APIConnectionTimeoutError);
for (let i = 0; started() === before && i < 600; i++) await sleep(100);
assert.equal(started(), before + 1);

const perch = createOpenAICompatible({ name: "perch", baseURL, apiKey: token });
const made = await generateText({ model: perch("echo"), prompt: "hi" });
assert(made.text.startsWith(said), made.text);
let text = "";
for await (const piece of streamText({ model: perch("echo"), prompt: "hi" }).textStream) text += piece;
assert(text.startsWith(said), text);
await assert.rejects(generateText({ model: perch("fail"), prompt: "hi", maxRetries: 0 }));
console.log("all of it");
