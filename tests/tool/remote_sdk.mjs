// Official servers over HTTP: /one is the TypeScript SDK 1.x with sessions and numbered events, /two is 2.x,
// which answers the modern era alone. Prints its port; what it is asked goes to the file that is its argument.
// Ends when its stdin does.
import { appendFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.MODULES}/`);
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StreamableHTTPServerTransport } = require('@modelcontextprotocol/sdk/server/streamableHttp.js');
const { InMemoryEventStore } = require('@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js');
const two = require('@modelcontextprotocol/server');
const { z } = require('zod');

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const sessions = new Map();

function offer(server) {
    server.registerTool('say', { description: 'says it', inputSchema: z.object({ text: z.string() }) },
        ({ text: words }) => text(words));
    return server;
}

// A tool whose stream the server closes before the answer: the client comes back for it.
function first() {
    const server = new McpServer({ name: 'one', version: '1' });
    server.registerTool('say', { description: 'says it', inputSchema: { text: z.string() } },
        ({ text: words }) => text(words));
    server.registerTool('poll', { description: 'answers later', inputSchema: {} }, (_, extra) => {
        extra.closeSSEStream();
        return text('late');
    });
    return server;
}

async function serveFirst(request, response) {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport && request.headers['mcp-session-id']) {
        response.writeHead(404).end();
        return;
    }
    if (!transport) {
        transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID, eventStore: new InMemoryEventStore(), retryInterval: 10,
            onsessioninitialized: (id) => sessions.set(id, transport),
            onsessionclosed: (id) => sessions.delete(id),
        });
        await first().connect(transport);
    }
    await transport.handleRequest(request, response);
}

const handler = two.createMcpHandler(() => offer(new two.McpServer({ name: 'two', version: '2' })),
    { legacy: 'reject' });

async function serveSecond(request, response) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, {
        method: request.method, headers: request.headers, signal: gone.signal,
        body: pieces.length ? Buffer.concat(pieces) : undefined,
    }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
}

const server = createServer(async (request, response) => {
    appendFileSync(process.argv[2], `${request.method} ${request.headers['last-event-id'] ? 'resumes' : ''}\n`);
    try {
        await (request.url === '/one' ? serveFirst : serveSecond)(request, response);
    } catch {
        response.destroy();
    }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
