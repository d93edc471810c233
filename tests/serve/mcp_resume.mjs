// The official TypeScript clients lose the connection of a call behind its first event, and go on: mcp_resume.mjs SDK.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const [sdk] = process.argv.slice(2);
const require = createRequire(`${process.env.MODULES}/`);
const { Client } = require(sdk === '2' ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } =
    require(sdk === '2' ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/streamableHttp.js');

const resumed = [];

/** The answer, up to the end of its first event. */
function cut(answer) {
    const reader = answer.body.getReader();
    const body = new ReadableStream({
        async start(controller) {
            let text = '';
            while (!text.includes('\n\n'))
                text += new TextDecoder().decode((await reader.read()).value);
            controller.enqueue(new TextEncoder().encode(text.slice(0, text.indexOf('\n\n') + 2)));
            controller.close();
            await reader.cancel();
        },
    });
    return new Response(body, { status: answer.status, headers: answer.headers });
}

async function lossy(url, init) {
    const last = new Headers(init.headers).get('last-event-id');
    if (last)
        resumed.push(last);
    const answer = await fetch(url, init);
    return init.method === 'POST' && String(init.body).includes('tools/call') ? cut(answer) : answer;
}

const client = new Client({ name: `typescript-${sdk}`, version: '1' }, { versionNegotiation: { mode: 'legacy' } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), {
    fetch: lossy,
    requestInit: { headers: { Authorization: `Bearer ${process.env.MCP_TOKEN}` } },
    reconnectionOptions: { initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1, maxRetries: 3 },
}));
const tokens = [];
const call = { name: 'example_hello_hello_greet', arguments: { name: 'you' } };
const options = { onresumptiontoken: (token) => tokens.push(token) };
const result = await (sdk === '2' ? client.callTool(call, options) : client.callTool(call, undefined, options));
assert.deepEqual(result.structuredContent, { greeting: 'Hello, you!' });
assert.equal(resumed.length, 1);
assert.ok(tokens.includes(resumed[0]), `${tokens} has ${resumed[0]}`);
await client.close();
