"""The everything server of the Python SDK, which speaks HTTP, on stdin and stdout. Its folder is the argument."""

import sys

sys.path.insert(0, sys.argv[1])

from mcp_everything_server.server import mcp  # noqa: E402

mcp.run("stdio")
