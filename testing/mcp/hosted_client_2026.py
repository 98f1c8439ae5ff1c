"""Uses a hosted server with the SDK of the era without sessions (mcp 2.x), which probes for the era."""

import asyncio
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main():
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + os.environ["ISOLA_API_KEY"]}, timeout=60)
    async with Client(streamable_http_client(os.environ["ISOLA_MCP_URL"], http_client=http)) as client:
        version = client.session.protocol_version
        assert version == "2026-07-28", version
        assert (await client.list_tools()).tools
        if os.environ["ISOLA_MCP_HOSTED"] == "everything":
            result = await client.call_tool("echo", {"message": "hällo"})
            assert result.content[0].text == "Echo: hällo", result
            assert (await client.list_resources()).resources
            assert (await client.list_prompts()).prompts
        else:
            result = await client.call_tool("count", {"to": 3})
            assert result.content[0].text == "counted to 3", result
            before = (await client.call_tool("where", {})).content[0].text
            if os.environ.get("ISOLA_MCP_PROGRAM") == "restart":
                print("started", flush=True)
                await asyncio.to_thread(input)
                after = (await client.call_tool("where", {})).content[0].text
                assert before == after, (before, after)
    print("hosted ok")


asyncio.run(main())
