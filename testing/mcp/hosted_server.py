"""A server with the SDK of the era with sessions (mcp 1.x), for a sandbox to host."""

import os

from mcp.server.fastmcp import Context, FastMCP

server = FastMCP("hosted-python")


@server.tool()
def where() -> str:
    """Returns the id of the process and its working directory."""
    return f"{os.getpid()} {os.getcwd()} {os.environ.get('GREETING')}"


@server.tool()
async def count(to: int, context: Context) -> str:
    """Reports progress."""
    for step in range(to):
        await context.report_progress(step + 1, to)
    return f"counted to {to}"


@server.tool()
async def ask(context: Context) -> str:
    """Asks the client."""
    roots = await context.session.list_roots()
    return str(roots)


server.run()
