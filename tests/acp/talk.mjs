// What the official SDK is put through as an editor of perch acp: talk.mjs SCENE.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.MODULES}/`);
const acp = await import(pathToFileURL(require.resolve('@agentclientprotocol/sdk')));
const { WORK, MARK, PERCH, AGENT } = process.env;

class Editor {
    updates = [];
    answers = []; // to questions, in order
    asked = [];

    constructor(words = [], capabilities = { elicitation: { form: {} } }, agent = ['--agent', AGENT]) {
        this.process = spawn(PERCH, ['acp', ...agent, ...words],
            { stdio: ['pipe', 'pipe', 'inherit'] });
        this.exit = once(this.process, 'exit');
        const app = acp.client({ name: 'talk' });
        app.onNotification('session/update', ({ params }) => { this.updates.push(params); });
        for (const method of ['session/request_permission', 'elicitation/create'])
            app.onRequest(method, ({ params, signal }) => {
                this.asked.push(params);
                return this.answer(params, signal);
            });
        this.connection = app.connect(acp.ndJsonStream(
            Writable.toWeb(this.process.stdin), Readable.toWeb(this.process.stdout)));
        this.capabilities = capabilities;
    }

    async answer(params, signal) {
        const answer = this.answers.shift();
        if (answer === 'never')
            return new Promise((resolve, reject) =>
                signal.addEventListener('abort', () => reject(new Error('aborted'))));
        const option = params.options?.find(({ kind }) => kind === answer);
        if (params.options)
            return option ? { outcome: { outcome: 'selected', optionId: option.optionId } }
                : { outcome: { outcome: 'cancelled' } };
        const [name] = Object.keys(params.requestedSchema.properties);
        return answer === undefined ? { action: 'cancel' }
            : { action: 'accept', content: { [name]: answer } };
    }

    async greet() {
        return this.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION,
            clientCapabilities: this.capabilities, clientInfo: { name: 'talk', version: '1' } });
    }

    request(method, params, options) { return this.connection.agent.request(method, params, options); }

    notify(method, params) { return this.connection.agent.notify(method, params); }

    async open(more = {}) {
        const made = await this.request('session/new', { cwd: WORK, mcpServers: [], ...more });
        this.session = made.sessionId;
        return made;
    }

    prompt(text, options) {
        const prompt = Array.isArray(text) ? text : [{ type: 'text', text }];
        return this.request('session/prompt', { sessionId: this.session, prompt }, options);
    }

    // What was said since the last time, by kind.
    said(kind = 'agent_message_chunk') {
        const found = this.updates.filter(({ update }) => update.sessionUpdate === kind);
        this.updates = this.updates.filter(({ update }) => update.sessionUpdate !== kind);
        return found.map(({ update }) => update.content?.text ?? update);
    }

    async until(test) {
        while (!test())
            await new Promise((resolve) => setTimeout(resolve, 10));
    }

    async end() {
        this.process.stdin.end();
        const [status] = await this.exit;
        assert.equal(status, 0);
    }
}

async function started(words, capabilities, agent) {
    const editor = new Editor(words, capabilities, agent);
    editor.hello = await editor.greet();
    await editor.open();
    return editor;
}

const fails = async (promise, code, words) => {
    const error = await promise.then(() => null, (caught) => caught);
    assert.ok(error, 'it did not fail');
    assert.equal(error.code, code, JSON.stringify(error));
    assert.match(error.message, words);
    return error;
};

const scenes = {
    async hello() {
        const editor = await started();
        const { agentCapabilities: can, agentInfo, protocolVersion, authMethods } = editor.hello;
        assert.equal(protocolVersion, 1);
        assert.equal(agentInfo.name, 'perch');
        assert.deepEqual(authMethods, []);
        assert.equal(can.loadSession, true);
        assert.deepEqual(can.promptCapabilities, { image: true, audio: true, embeddedContext: true });
        assert.deepEqual(Object.keys(can.sessionCapabilities).sort(),
            ['additionalDirectories', 'close', 'delete', 'list', 'resume']);
        await fails(editor.greet(), -32600, /already/);
        await fails(editor.request('session/set_mode', { sessionId: 'x', modeId: 'y' }), -32601, /no method/);
        await fails(editor.request('session/prompt', { sessionId: 'x', prompt: [] }), -32002, /no open session/);
        await fails(editor.request('session/new', { cwd: 'relative', mcpServers: [] }), -32602, /absolute/);
        await editor.end();
        const other = new Editor([], {}, ['--agent', process.env.OTHER]); // which is of 0.1
        const hello = await other.request('initialize', { protocolVersion: 99 });
        assert.equal(hello.protocolVersion, 1);
        assert.equal(hello.agentCapabilities.mcpCapabilities.http, false);
        assert.equal(hello.agentCapabilities.sessionCapabilities.additionalDirectories, undefined);
        await other.end();
    },

    async hosted() {
        const editor = await started([], {}, ['--agent', process.env.HOSTED]);
        await editor.prompt('show');
        assert.deepEqual(editor.said('agent_thought_chunk'), ['hm']);
        assert.deepEqual(editor.said('usage_update').map(({ used, size }) => [used, size]), [[10, 100]]);
        assert.deepEqual(editor.said(), ['shown']);
        editor.updates = [];
        await editor.prompt('tools');
        editor.said('agent_thought_chunk'); // that it has said nothing
        assert.deepEqual(editor.updates.map(({ update }) => update), [
            { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Change', kind: 'edit', status: 'in_progress', content: [
                { type: 'content', content: { type: 'text', text: 'words' } },
                { type: 'diff', path: '/a', newText: 'y', oldText: 'x' }], locations: [{ path: '/a', line: 3 }, { path: '/b' }] },
            { sessionUpdate: 'tool_call_update', toolCallId: 't', title: 'Changed', status: 'completed' },
            { sessionUpdate: 'tool_call_update', toolCallId: 'u', rawOutput: [1] },
            { sessionUpdate: 'plan', entries: [{ content: 'one', priority: 'medium', status: 'pending' },
                { content: 'two', priority: 'high', status: 'completed' }] }]);
        for (const kind of ['allow_once', 'allow_always', 'reject_once']) {
            editor.answers = [kind];
            await editor.prompt('permit');
            assert.deepEqual(editor.said(), [{ allow_once: 'once-1', allow_always: 'ever-1', reject_once: 'no-1' }[kind]]);
        }
        assert.deepEqual(editor.asked[0].options.map(({ optionId }) => optionId), ['once-1', 'ever-1', 'no-1']);
        assert.equal(editor.asked[0].toolCall.toolCallId, 'c2'); // which the agent's updates speak of
        for (const stopReason of ['max_tokens', 'max_turn_requests', 'refusal', 'end_turn'])
            assert.equal((await editor.prompt(`stop ${stopReason}`)).stopReason, stopReason);
        editor.said('agent_thought_chunk');
        const place = { additionalDirectories: ['/opt'], mcpServers: [{ name: 'm', command: '/bin/m' },
            { name: 'w', type: 'http', url: 'https://w', headers: [] }] };
        await editor.open(place);
        await editor.prompt('servers');
        assert.deepEqual(JSON.parse(editor.said().pop()), [{ name: 'm', command: '/bin/m', args: [], env: [] }]);
        assert.match(editor.said('agent_thought_chunk')[0], /programs alone, and is not told of w; .* works in one directory/);
        await editor.end();
        const remote = await started([], {}, ['--agent', process.env.REMOTE]);
        await remote.open(place);
        await remote.prompt('directories');
        assert.deepEqual(remote.said(), ['["/opt"]']);
        assert.deepEqual(remote.said('agent_thought_chunk'), []);
        await remote.end();
    },

    async turns() {
        const editor = await started();
        assert.deepEqual(await editor.prompt('stream'), { stopReason: 'end_turn',
            _meta: { perch: { usage: { input_tokens: 3, output_tokens: 4 } } } });
        assert.deepEqual(editor.said(), ['one ', 'two ', 'three']);
        await editor.prompt('think');
        assert.deepEqual(editor.said('agent_thought_chunk'), ['hmm']);
        assert.deepEqual(editor.said(), ['done']);
        await editor.prompt('cwd');
        assert.deepEqual(editor.said(), [WORK]);
        await editor.prompt('size');
        const [usage] = editor.said('usage_update');
        assert.deepEqual([usage.used, usage.size], [100, 2000]);
        editor.said();
        await editor.prompt('session');
        const [first] = editor.said();
        await editor.prompt('session');
        assert.deepEqual(editor.said(), [first]);
        await editor.open({ additionalDirectories: ['/opt'],
            mcpServers: [{ name: 'm', command: '/bin/true', args: [], env: [] }] });
        await editor.prompt('context');
        assert.deepEqual(JSON.parse(editor.said()[0]), { additional_directories: ['/opt'],
            mcp_servers: [{ name: 'm', command: '/bin/true', args: [], env: [] }] });
        await editor.end();
    },

    async permission() {
        const editor = await started();
        editor.answers = ['allow_once', 'reject_once', undefined];
        await editor.prompt('ask read write run');
        assert.deepEqual(editor.said(), ['read=True write=False run=False']);
        const [asked] = editor.asked;
        assert.deepEqual(asked.options.map(({ kind }) => kind),
            ['allow_once', 'allow_always', 'reject_once']);
        assert.equal(asked.toolCall.title, 'read: it wants to look');
        assert.deepEqual(asked.toolCall.rawInput, { path: '/etc/motd' });
        editor.asked = [];
        editor.answers = ['allow_always', 'reject_once'];
        await editor.prompt('ask read read write');
        assert.deepEqual(editor.said(), ['read=True read=True write=False']);
        await editor.prompt('ask read');
        assert.deepEqual(editor.said(), ['read=True']);
        assert.equal(editor.asked.length, 2);
        editor.session = (await editor.request('session/new', { cwd: WORK, mcpServers: [] })).sessionId;
        editor.answers = ['reject_once'];
        await editor.prompt('ask read');
        assert.deepEqual(editor.said(), ['read=False']);
        await editor.end();
    },

    async cancel() {
        const editor = await started();
        for (const way of ['session', 'request']) {
            rmSync(MARK, { force: true });
            const given = new AbortController();
            const turn = editor.prompt('wait',
                way === 'request' ? { cancellationSignal: given.signal } : undefined);
            await editor.until(() => existsSync(MARK));
            if (way === 'session')
                await editor.notify('session/cancel', { sessionId: editor.session });
            else
                given.abort();
            assert.equal((await turn).stopReason, 'cancelled');
            editor.said();
        }
        editor.answers = ['never'];
        const asking = editor.prompt('ask read');
        await editor.until(() => editor.asked.length);
        await editor.notify('session/cancel', { sessionId: editor.session });
        assert.equal((await asking).stopReason, 'cancelled');
        assert.equal((await editor.prompt('again')).stopReason, 'end_turn');
        await editor.end();
    },

    async queue() {
        const editor = await started();
        const order = [];
        const prompts = ['a', 'b', 'c'].map((text) => editor.prompt(text).then(() => order.push(text)));
        await Promise.all(prompts);
        assert.deepEqual(order, ['a', 'b', 'c']);
        assert.deepEqual(editor.said(), ['you said: a', 'you said: b', 'you said: c']);
        const turns = [editor.prompt('wait'), editor.prompt('x'), editor.prompt('y')];
        await editor.until(() => existsSync(MARK));
        await editor.notify('session/cancel', { sessionId: editor.session });
        assert.deepEqual((await Promise.all(turns)).map(({ stopReason }) => stopReason),
            ['cancelled', 'cancelled', 'cancelled']);
        assert.deepEqual(editor.said(), ['waiting']);
        rmSync(MARK);
        const given = new AbortController();
        const behind = [editor.prompt('wait'), editor.prompt('x', { cancellationSignal: given.signal }),
            editor.prompt('y')];
        await editor.until(() => existsSync(MARK));
        given.abort();
        assert.equal((await behind[1]).stopReason, 'cancelled');
        const other = await editor.request('session/new', { cwd: WORK, mcpServers: [] });
        const beside = await editor.request('session/prompt',
            { sessionId: other.sessionId, prompt: [{ type: 'text', text: 'beside' }] });
        assert.equal(beside.stopReason, 'end_turn');
        await editor.notify('session/cancel', { sessionId: editor.session });
        await Promise.all(behind);
        await editor.end();
    },

    async store() {
        const editor = await started();
        const first = editor.session;
        await editor.prompt('session');
        const [id] = editor.said();
        await editor.prompt('first words');
        await editor.open();
        await editor.prompt('other');
        await editor.end();

        const later = new Editor();
        await later.greet();
        const { sessions } = await later.request('session/list', {});
        assert.equal(sessions.length, 2);
        assert.equal(sessions[1].sessionId, first);
        assert.equal(sessions[1].title, 'session');
        assert.equal(sessions[1].cwd, WORK);
        assert.ok(Date.now() - Date.parse(sessions[1].updatedAt) < 3600_000);
        assert.equal((await later.request('session/list', { cwd: '/nowhere' })).sessions.length, 0);
        assert.equal((await later.request('session/list', { cwd: WORK })).sessions.length, 2);
        await fails(later.request('session/list', { cursor: 'nonsense' }), -32602, /cursor/);
        await later.request('session/load', { sessionId: first, cwd: WORK, mcpServers: [] });
        assert.deepEqual(later.said('user_message_chunk'), ['session', 'first words']);
        assert.deepEqual(later.said(), [id, 'you said: first words']);
        later.session = first;
        await later.prompt('session');
        assert.deepEqual(later.said(), [id]);
        await later.request('session/close', { sessionId: first });
        await fails(later.prompt('closed'), -32002, /no open session/);
        await later.request('session/resume', { sessionId: first, cwd: WORK });
        assert.deepEqual(later.updates, []);
        await later.prompt('session');
        assert.deepEqual(later.said(), [id]);
        await later.request('session/delete', { sessionId: first });
        await later.request('session/delete', { sessionId: 'never' });
        assert.equal((await later.request('session/list', {})).sessions.length, 1);
        await fails(later.request('session/load', { sessionId: first, cwd: WORK, mcpServers: [] }),
            -32002, /no such session/);
        await later.end();
    },

    async forgets() {
        const editor = await started(['--no-store']);
        const { agentCapabilities: can } = editor.hello;
        assert.equal(can.loadSession, false);
        assert.deepEqual(Object.keys(can.sessionCapabilities).sort(), ['additionalDirectories', 'close']);
        await editor.prompt('session');
        const [id] = editor.said();
        await editor.prompt('session');
        assert.deepEqual(editor.said(), [id]);
        await fails(editor.request('session/list', {}), -32601, /no method/);
        await editor.end();
        const both = await started(['--no-store'], {}, ['--agents', `${AGENT},${process.env.OTHER}`]);
        const choose = (value) => both.request('session/set_config_option',
            { sessionId: both.session, configId: 'agent', value });
        await both.prompt('session');
        const [own] = both.said();
        await choose('other');
        await both.prompt('session');
        assert.deepEqual(both.said(), ['the other one: session']); // and not that of another agent
        await choose('bot');
        await both.prompt('session');
        assert.deepEqual(both.said(), [own]);
        await both.end();
    },

    async attached() {
        const editor = await started();
        const data = Buffer.from('bytes').toString('base64');
        await editor.prompt([{ type: 'text', text: 'attached ' },
            { type: 'image', data, mimeType: 'image/png' },
            { type: 'audio', data, mimeType: 'audio/wav' },
            { type: 'resource', resource: { uri: 'file:///b', blob: data } }]);
        assert.deepEqual(editor.said(), ['image 1.png bytes; audio 2.wav bytes; file 3 bytes']);
        await editor.prompt([{ type: 'text', text: 'see' },
            { type: 'resource', resource: { uri: 'file:///a.c', text: 'int main;' } },
            { type: 'resource_link', uri: 'file:///b.c', name: 'b.c' }]);
        assert.deepEqual(editor.said(), ['you said: see\n[file:///a.c]\nint main;\n[file:///b.c]\n']);
        await editor.prompt([{ type: 'text', text: 'see' }, { type: 'image', data, mimeType: 'image/png' }]);
        assert.deepEqual(editor.said(), ['you said: see']);
        await fails(editor.prompt([{ type: 'image', data: '!', mimeType: 'image/png' }]), -32602, /base64/);
        await fails(editor.prompt([{ type: 'image', data }]), -32602, /mimeType/);
        await editor.end();
    },

    async agents() {
        const editor = new Editor([], {}, ['--agents', `${AGENT},${process.env.OTHER}`]);
        await editor.greet();
        const { configOptions: [option] } = await editor.open();
        assert.equal(option.id, 'agent');
        assert.deepEqual(option.options.map(({ value }) => value), ['bot', 'other']);
        assert.equal(option.currentValue, 'bot');
        await editor.prompt('x');
        assert.deepEqual(editor.said(), ['you said: x']);
        const set = { sessionId: editor.session, configId: 'agent', value: 'other' };
        const after = await editor.request('session/set_config_option', set);
        assert.equal(after.configOptions[0].currentValue, 'other');
        await editor.prompt('y');
        assert.deepEqual(editor.said(), ['the other one: y']);
        await fails(editor.request('session/set_config_option', { ...set, value: 'nobody' }), -32602, /no such/);
        await editor.request('session/close', { sessionId: editor.session });
        const loaded = await editor.request('session/load',
            { sessionId: editor.session, cwd: WORK, mcpServers: [] });
        assert.equal(loaded.configOptions[0].currentValue, 'other');
        assert.deepEqual(editor.said(), ['you said: x', 'the other one: y']);
        await editor.open({ additionalDirectories: ['/opt'] });
        await editor.request('session/set_config_option', { ...set, sessionId: editor.session });
        await editor.prompt('z');
        assert.match(editor.said('agent_thought_chunk')[0], /not told to this agent/);
        await editor.end();
    },

    async commands() {
        const editor = await started();
        await editor.until(() => editor.updates.length);
        const [{ availableCommands }] = editor.said('available_commands_update');
        assert.deepEqual(availableCommands.map(({ name }) => name), ['deploy']);
        editor.answers = ['moon', true];
        await editor.prompt('/deploy now');
        assert.match(editor.said().join(''), /Deployed to moon/);
        assert.match(editor.said('agent_thought_chunk').join(''), /10\/10 Uploading/);
        assert.equal(editor.asked[0].mode, 'form');
        assert.equal((await editor.prompt('/deploy')).stopReason, 'cancelled');
        editor.answers = ['moon', false];
        await editor.prompt('/deploy');
        assert.deepEqual(editor.said(), ['Cancelled.\n']);
        await editor.prompt('/unknown');
        assert.deepEqual(editor.said().slice(-1), ['you said: /unknown']);
        await editor.end();
    },

    async numbers() {
        const editor = await started([], {});
        editor.said('available_commands_update');
        assert.equal((await editor.prompt('/deploy now')).stopReason, 'end_turn');
        assert.match(editor.said().join(''), /Deploy target[^]*default: staging[^]*with a text/);
        assert.equal((await editor.prompt('moon')).stopReason, 'end_turn');
        assert.match(editor.said().join(''), /1\. yes[^]*2\. no[^]*Answer with a number/);
        assert.equal((await editor.prompt('perhaps')).stopReason, 'end_turn');
        assert.match(editor.said().join(''), /answer with 1[^]*1\. yes/);
        assert.equal((await editor.prompt('1')).stopReason, 'end_turn');
        assert.match(editor.said().join(''), /Deployed to moon/);
        await editor.prompt('/deploy');
        assert.equal((await editor.prompt('/cancel')).stopReason, 'cancelled');
        await editor.prompt('/deploy');
        await editor.request('session/close', { sessionId: editor.session });
        await editor.open();
        await editor.prompt('on');
        await editor.end();
    },

    async errors() {
        const editor = await started();
        let error = await fails(editor.prompt('fail'), -32603, /it cannot be done/);
        assert.equal(error.data.code, 'agent_error');
        assert.match(error.data.stderr, /the last words/);
        error = await fails(editor.prompt('crash'), -32603, /./);
        assert.equal(error.data.code, 'signal');
        assert.equal(error.data.signal, 9);
        assert.match(error.data.stderr, /the last words/);
        error = await fails(editor.prompt('flood'), -32603, /./);
        assert.equal(error.data.code, 'output_limit');
        const slow = await started([], {}, ['--agent', process.env.SLOW]);
        error = await fails(slow.prompt('wait'), -32603, /./);
        assert.equal(error.data.code, 'timeout');
        await slow.end();
        assert.equal((await editor.prompt('x')).stopReason, 'end_turn');
        await editor.end();
    },

    async ends() {
        const editor = await started();
        const turn = editor.prompt('wait').catch(() => 'gone');
        await editor.until(() => existsSync(MARK));
        await editor.end();
        await turn;
    },
};

await scenes[process.argv[2]]();
process.exit(0);
