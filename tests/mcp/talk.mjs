// What the official TypeScript clients are put through: talk.mjs SDK MODE. The same conversation as
// in talk.py, with the client's own checks of every message. On stdio, or with MCP_URL over HTTP.
import assert from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';

const [sdk, mode] = process.argv.slice(2);
const require = createRequire(`${process.env.MODULES}/`);

// Both packages, by the same names.
function load() {
    if (sdk === '2') {
        const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
        const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
        return { Client, StdioClientTransport, StreamableHTTPClientTransport,
            elicitation: 'elicitation/create' };
    }
    const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } =
        require('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { ElicitRequestSchema } = require('@modelcontextprotocol/sdk/types.js');
    return { Client, StdioClientTransport, StreamableHTTPClientTransport,
        elicitation: ElicitRequestSchema };
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport, elicitation } = load();
const url = process.env.MCP_URL;
const answers = [];
let changed;
const toldOfChange = new Promise((resolve) => { changed = resolve; });

async function connect(...words) {
    const client = new Client({ name: `typescript-${sdk}`, version: '1' }, {
        capabilities: { elicitation: { form: {} } },
        listChanged: { tools: { autoRefresh: false, onChanged: () => changed() } },
        versionNegotiation: { mode: mode.startsWith('20') ? { pin: mode } : mode },
    });
    client.setRequestHandler(elicitation, async (request) => {
        const answer = answers.shift();
        if (typeof answer === 'object')
            return answer;
        const [name] = Object.keys(request.params.requestedSchema.properties);
        return { action: 'accept', content: { [name]: answer } };
    });
    if (url) {
        const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
        await client.connect(
            new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
        return client;
    }
    // The environment is the SDK's own choice: HOME, PATH and little else.
    await client.connect(new StdioClientTransport({
        command: process.env.TAPE_PROGRAM,
        args: [process.env.TAPE, process.env.PERCH, 'mcp', '--config', process.env.CONFIG, ...words],
    }));
    return client;
}

const textOf = (result) => result.content.map((block) => block.text ?? '').join('');

async function untilThere(path) {
    while (!existsSync(path))
        await new Promise((resolve) => setTimeout(resolve, 20));
}

const client = await connect();
if (sdk === '2')
    assert.equal(client.getProtocolEra(), mode === 'legacy' ? 'legacy' : 'modern');
assert.equal(client.getServerVersion().name, 'perch');

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'example_hello_hello_greet'));
let result = await client.callTool({ name: 'example_hello_hello_greet', arguments: { name: 'you' } });
assert.deepEqual(result.structuredContent, { greeting: 'Hello, you!' });
result = await client.callTool({ name: 'example_words_words_count', arguments: {} });
assert.equal(result.isError, true);
await assert.rejects(client.callTool({ name: 'nothing' }), { code: -32602 });

// Questions, progress.
const heard = [];
answers.push('moon', true);
result = await client.callTool({ name: 'run_deploy' }, ...(sdk === '2' ? [] : [undefined]),
    { onprogress: (one) => heard.push(one) });
assert.match(textOf(result), /Deployed to moon/);
// 2.x tells of the rounds of a question as progress, too.
assert.equal(heard.filter((one) => one.message === 'Uploading artifacts').length, 11);
answers.push({ action: 'cancel' });
result = await client.callTool({ name: 'run_deploy' });
assert.equal(result.isError, true);
if (!url) // over HTTP an admin is asked, not who calls
    answers.push(false);
result = await client.callTool({ name: 't_asks_t_x' });
assert.equal(result.isError, true);

// An agent and its session.
result = await client.callTool({ name: 'agent_echo', arguments: { message: 'hello' } });
const { session } = result.structuredContent;
result = await client.callTool({ name: 'agent_echo', arguments: { message: 'on', session } });
assert.equal(result.structuredContent.session, session);

// A call that is given up.
const controller = new AbortController();
const slow = client.callTool({ name: 't_slow_t_x' }, ...(sdk === '2' ? [] : [undefined]),
    { signal: controller.signal });
await untilThere(process.env.READY);
controller.abort('enough');
await assert.rejects(slow);
result = await client.callTool({ name: 't_slow_t_x', arguments: { quick: true } });
assert.deepEqual(result.structuredContent, { done: true });

// A new tool.
renameSync(process.env.LATER, `${process.env.BINDINGS}/t.later.toml`);
await toldOfChange;
await client.close();

// A result that was cut, and its whole.
const cutting = await connect('--max-result-chars', '20');
result = await cutting.callTool({ name: 'run_long' });
const link = result.content.at(-1);
assert.equal(link.type, 'resource_link');
const whole = await cutting.readResource({ uri: link.uri });
assert.equal(whole.contents[0].text, `${'7'.padStart(120000, '0')}\n`);
await cutting.close();
