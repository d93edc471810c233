"""The official Python SDK as a server with one tool, to be compared with."""
from mcp.server.fastmcp import FastMCP

server = FastMCP("peer")


@server.tool()
def echo(text: str) -> str:
    return text


server.run()
