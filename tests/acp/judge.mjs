// Every message of ACP that perch has sent, by the schema of the protocol (that of the SDK's package) and a validator
// from npm: judge.mjs DIRECTORY LEAST. The directory has the tapes of src/wire/acp_tape.h; fewer messages than LEAST
// are too few to say something.
import assert from 'node:assert/strict';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.MODULES}/`);
const Ajv = require('ajv/dist/2020.js').default;
const schema = JSON.parse(readFileSync(
    `${process.env.MODULES}/@agentclientprotocol/sdk/schema/v1/schema.json`, 'utf8'));
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const judges = new Map();
ajv.addSchema(schema, 'acp');

// The type of a message: which side handles its method, and which part it is.
function typeOf(side, method, part) {
    const found = Object.entries(schema.$defs).find(([name, type]) => name.endsWith(part) &&
        type['x-method'] === method && type['x-side'] === side);
    return found?.[0];
}

// A member that the type does not have is wrong as well: all names are reserved for later versions.
function check(name, value) {
    assert.ok(schema.$defs[name], `the schema has no ${name}`);
    if (!judges.has(name))
        judges.set(name, ajv.compile({ $ref: `acp#/$defs/${name}`, unevaluatedProperties: false }));
    const validate = judges.get(name);
    assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}`);
}

function checkMessage(message, side, methods) {
    const other = side === 'agent' ? 'client' : 'agent';
    const members = ['jsonrpc', 'id', ...'method' in message ? ['method', 'params'] : ['result', 'error']];
    assert.equal(message.jsonrpc, '2.0');
    assert.deepEqual(Object.keys(message).filter((name) => !members.includes(name)), []);
    if ('id' in message || !message.method)
        check('RequestId', message.id);
    if (message.method === '$/cancel_request')
        check('CancelRequestNotification', message.params);
    else if (message.method)
        check(typeOf(other, message.method, 'id' in message ? 'Request' : 'Notification'), message.params);
    else if (message.error)
        check('Error', message.error);
    else
        check(typeOf(side, methods.get(message.id), 'Response'), message.result);
    if (message.method === 'session/update')
        check('SessionUpdate', message.params.update);
}

// Read as it goes: the tape of an agent that asks without end is longer than a text may be.
async function* linesOf(path) {
    let rest = '';
    for await (const part of createReadStream(path, 'utf8')) {
        const lines = (rest + part).split('\n');
        rest = lines.pop();
        yield* lines;
    }
}

// lines: "> what we have said", "< what the other side has". Returns how many messages were judged.
async function judge(lines, side) {
    const methods = new Map();
    let judged = 0;
    for await (const line of lines) {
        if (line.startsWith('<')) {
            let message = {};
            try { message = JSON.parse(line.slice(2)); } catch { /* on purpose */ }
            if (message?.method && 'id' in message)
                methods.set(message.id, message.method);
            continue;
        }
        try {
            checkMessage(JSON.parse(line.slice(2)), side, methods);
        } catch (error) {
            throw new Error(`${error.message}\n${line.slice(2, 2000)}`);
        }
        judged++;
    }
    return judged;
}

// The judge himself.
const asks = '< {"id":1,"method":"session/new"}';
assert.equal(await judge([asks, '> {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}'], 'agent'), 1);
for (const wrong of ['{"sessionId":7}', '{"sessionId":"s","own":1}', '{}'])
    await assert.rejects(() => judge([asks, `> {"jsonrpc":"2.0","id":1,"result":${wrong}}`], 'agent'));
for (const wrong of ['"result":{}', '"id":1,"result":{"sessionId":"s"},"more":1', '"id":2,"result":{"sessionId":"s"}',
    '"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[],"own":1}}'])
    await assert.rejects(() => judge([asks, `> {"jsonrpc":"2.0",${wrong}}`], 'agent'));

const [directory, least] = process.argv.slice(2);
let judged = 0;
for (const name of readdirSync(directory)) {
    judged += await judge(linesOf(`${directory}/${name}`), name.split('.').pop());
}
console.log(`${judged} messages`);
assert.ok(judged >= least, `${judged} messages are too few`);
