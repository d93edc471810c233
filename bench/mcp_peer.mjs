// The official TypeScript SDK as a server with one tool, to be compared with. MODULES says where it is.
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.MODULES}/`);
const { McpServer } = require('@modelcontextprotocol/server');
const { StdioServerTransport } = require('@modelcontextprotocol/server/stdio');
const { z } = require('zod');

const server = new McpServer({ name: 'peer', version: '1' });
server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: 'text', text }] }));
await server.connect(new StdioServerTransport());
