"""The programs with the SDK of the era with sessions (mcp 1.x)."""

import asyncio
import os

import programs
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def use(read, write):
    async with ClientSession(read, write) as session:
        found = await session.initialize()
        assert found.protocolVersion == "2025-11-25", found
        tools = (await session.list_tools()).tools

        async def call(name, **arguments):
            result = await session.call_tool(name, arguments)
            assert result.content[0].text
            return result.structuredContent, result.isError

        await programs.run(call, [tool.name for tool in tools])


async def main():
    command = programs.stdio_command()
    if command:
        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            await use(read, write)
    else:
        async with streamablehttp_client(programs.url(), headers=programs.headers()) as (read, write, _):
            await use(read, write)


asyncio.run(main())
