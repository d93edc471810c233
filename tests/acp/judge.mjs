// Every message that perch has sent, by the schema of the protocol (that of the SDK's package) and a
// validator from npm.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.MODULES}/`);
const Ajv = require('ajv/dist/2020.js').default;
const schema = JSON.parse(readFileSync(
    `${process.env.MODULES}/@agentclientprotocol/sdk/schema/v1/schema.json`, 'utf8'));
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(schema, 'acp');

// The type of a message: which side handles its method, and which part it is.
function typeOf(side, method, part) {
    const found = Object.entries(schema.$defs).find(([name, type]) => name.endsWith(part) &&
        type['x-method'] === method && type['x-side'] === side);
    return found?.[0];
}

function check(name, value) {
    const validate = ajv.getSchema(`acp#/$defs/${name}`);
    assert.ok(validate, `the schema has no ${name}`);
    assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
}

// lines: [{ from: 'us' | 'them', text }]; side: which one perch is. Returns how many it has judged.
export function judge(lines, side) {
    const other = side === 'agent' ? 'client' : 'agent';
    const methods = new Map();
    let judged = 0;
    for (const { from, text } of lines) {
        if (from === 'them') {
            let message = {};
            try { message = JSON.parse(text); } catch { /* on purpose */ }
            if (message?.method && 'id' in message)
                methods.set(message.id, message.method);
            continue;
        }
        const message = JSON.parse(text);
        assert.equal(message.jsonrpc, '2.0');
        judged++;
        if (message.method === '$/cancel_request')
            check('CancelRequestNotification', message.params);
        else if (message.method)
            check(typeOf(other, message.method, 'id' in message ? 'Request' : 'Notification'),
                message.params);
        else if (message.error)
            check('Error', message.error);
        else
            check(typeOf(side, methods.get(message.id), 'Response'), message.result);
        if (!message.method)
            check('RequestId', message.id);
    }
    return judged;
}

assert.throws(() => judge([{ from: 'them', text: '{"id":1,"method":"session/new"}' },
    { from: 'us', text: '{"jsonrpc":"2.0","id":1,"result":{"sessionId":7}}' }], 'agent'));
