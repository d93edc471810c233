#!/usr/bin/env python3
"""What the official Python clients are put through: talk.py SDK MODE. The same conversation as in
talk.mjs, with the client's own checks of every message. On stdio, or with MCP_URL over HTTP."""
import asyncio
import contextlib
import os
import sys

import anyio

SDK, MODE = sys.argv[1:]
environ = os.environ
answers = []
changed = asyncio.Event()

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

if SDK == "2":
    from mcp import MCPError as Failure
    from mcp.client import Client
else:
    from mcp import McpError as Failure


def server(*words):
    """The environment is the SDK's own choice: HOME, PATH and little else."""
    return StdioServerParameters(
        command=environ["TAPE_PROGRAM"],
        args=[environ["TAPE"], environ["PERCH"], "mcp", "--config", environ["CONFIG"], *words])


async def answer(context, params):
    value = answers.pop(0)
    if not isinstance(value, dict):
        schema = getattr(params, "requested_schema", None) or params.requestedSchema
        value = {"action": "accept", "content": {next(iter(schema["properties"])): value}}
    return types.ElicitResult(**value)


async def hear(message):
    root = getattr(message, "root", message)
    if type(root).__name__ == "ToolListChangedNotification":
        changed.set()


URL = environ.get("MCP_URL")


@contextlib.asynccontextmanager
async def over_http():
    headers = {"Authorization": "Bearer " + environ["MCP_TOKEN"]}
    async with create_mcp_http_client(headers) as client:
        async with streamable_http_client(URL, http_client=client) as streams:
            yield streams[:2]


INFO = types.Implementation(name=f"python-{SDK}", version="1")


@contextlib.asynccontextmanager
async def connect(*words):
    if SDK == "2":
        way = over_http() if URL else stdio_client(server(*words))
        async with Client(way, mode=MODE, client_info=INFO,
                          elicitation_callback=answer, message_handler=hear) as client:
            yield client
        return
    async with over_http() if URL else stdio_client(server(*words)) as (source, sink):
        async with ClientSession(source, sink, elicitation_callback=answer, message_handler=hear,
                                 client_info=INFO) as session:
            await session.initialize()
            yield session


def member(result, old, new):
    return getattr(result, old if SDK == "1" else new)


def structured(result):
    return member(result, "structuredContent", "structured_content")


def is_error(result):
    return member(result, "isError", "is_error")


def text_of(result):
    return "".join(getattr(block, "text", "") or "" for block in result.content)


async def fails(call, code):
    try:
        await call
    except Failure as failure:
        assert failure.error.code == code, failure
        return
    raise SystemExit("it did not fail")


async def converse(client):
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert "example_hello_hello_greet" in tools
    result = await client.call_tool("example_hello_hello_greet", {"name": "you"})
    assert structured(result) == {"greeting": "Hello, you!"}, result
    assert is_error(await client.call_tool("example_words_words_count", {}))
    await fails(client.call_tool("nothing", {}), -32602)


async def ask(client):
    heard = []

    async def progress(*amounts):
        heard.append(amounts)

    answers.extend(["moon", True])
    result = await client.call_tool("run_deploy", {}, progress_callback=progress)
    assert "Deployed to moon" in text_of(result), result
    assert len(heard) == 11, heard
    answers.append({"action": "cancel"})
    assert is_error(await client.call_tool("run_deploy", {}))
    if not URL:  # over HTTP an admin is asked, not who calls
        answers.append(False)
    assert is_error(await client.call_tool("t_asks_t_x", {}))


async def speak(client):
    first = structured(await client.call_tool("agent_echo", {"message": "hello"}))
    again = await client.call_tool(
        "agent_echo", {"message": "on", "session": first["session"]})
    assert structured(again)["session"] == first["session"]


async def give_up(client):
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "t_slow_t_x", {})
        while not os.path.exists(environ["READY"]):
            await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    result = await client.call_tool("t_slow_t_x", {"quick": True})
    assert structured(result) == {"done": True}, result


async def change(client):
    later = (environ["LATER"], environ["BINDINGS"] + "/t.later.toml")
    if SDK == "2" and MODE != "legacy":
        async with client.listen(tools_list_changed=True) as events:
            os.rename(*later)
            async for _ in events:
                return
    os.rename(*later)
    await changed.wait()


async def main():
    async with connect() as client:
        if SDK == "2":
            modern = client.protocol_version >= "2026"
            assert modern == (MODE != "legacy"), client.protocol_version
        for part in (converse, ask, speak, give_up, change):
            await part(client)
    async with connect("--max-result-chars", "20") as client:
        result = await client.call_tool("run_long", {})
        link = result.content[-1]
        assert link.type == "resource_link", result
        whole = await client.read_resource(link.uri)
        assert whole.contents[0].text == "%0120000d\n" % 7


asyncio.run(main())
