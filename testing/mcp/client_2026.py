"""The programs with the SDK of the era without sessions (mcp 2.x), which probes for the era."""

import asyncio
import os

import httpx2
import programs
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def main():
    command = programs.stdio_command()
    mode = os.environ.get("ISOLA_MCP_MODE", "auto")
    if command:
        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    else:
        http = httpx2.AsyncClient(headers=programs.headers(), timeout=60)
        server = streamable_http_client(programs.url(), http_client=http)
    async with Client(server, mode=mode) as client:
        version = client.session.protocol_version
        assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28"), version
        tools = (await client.list_tools()).tools

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            assert result.content[0].text
            return result.structured_content, result.is_error

        await programs.run(call, [tool.name for tool in tools])


asyncio.run(main())
