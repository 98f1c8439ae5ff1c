"""Uses a hosted server with the SDK of the era with sessions (mcp 1.x)."""

import asyncio
import os

from mcp import ClientSession, types
from mcp.client.streamable_http import streamablehttp_client

KIND = os.environ["ISOLA_MCP_HOSTED"]
URL = os.environ["ISOLA_MCP_URL"]
HEADERS = {"Authorization": "Bearer " + os.environ["ISOLA_API_KEY"]}


async def sample(context, params):
    text = types.TextContent(type="text", text="sampled")
    return types.CreateMessageResult(role="assistant", content=text, model="scripted")


async def everything(session):
    result = await session.call_tool("echo", {"message": "hällo"})
    assert result.content[0].text == "Echo: hällo", result
    seen = []

    async def progress(done, total, message):
        seen.append((done, total))

    arguments = {"duration": 1, "steps": 3}
    await session.call_tool("trigger-long-running-operation", arguments, progress_callback=progress)
    assert seen[-1] == (3, 3), seen
    result = await session.call_tool("trigger-sampling-request", {"prompt": "hi", "maxTokens": 10})
    assert "sampled" in str(result.content), result
    assert (await session.list_resources()).resources
    prompts = (await session.list_prompts()).prompts
    assert prompts, prompts


async def python(session):
    pid, folder, greeting = (await session.call_tool("where", {})).content[0].text.split()
    assert (folder, greeting) == ("/tmp", "hi"), (folder, greeting)
    result = await session.call_tool("ask", {})
    assert result.isError and "support" in result.content[0].text, result


async def main():
    async with streamablehttp_client(URL, headers=HEADERS) as (read, write, _):
        async with ClientSession(read, write, sampling_callback=sample) as session:
            found = await session.initialize()
            print("server", found.serverInfo.name, flush=True)
            assert (await session.list_tools()).tools
            await (everything if KIND == "everything" else python)(session)
            if os.environ.get("ISOLA_MCP_PROGRAM") == "restart":
                before = (await session.call_tool("where", {})).content[0].text
                print("started", flush=True)
                await asyncio.to_thread(input)
                after = (await session.call_tool("where", {})).content[0].text
                assert before == after, (before, after)
    print("hosted ok")


asyncio.run(main())
