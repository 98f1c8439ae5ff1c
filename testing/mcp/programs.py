"""What an agent does with Isola's tools, in the same words for each SDK and each transport.

PROGRAM of ISOLA_MCP_PROGRAM:
  tour     every kind of tool
  restart  starts a command, waits for a line on standard input, reads the rest of its output
"""

import asyncio
import os
import sys


async def tour(call, tools):
    assert len(tools) <= 10, tools
    data, _ = await call("exec", command="echo hi; echo oops >&2; exit 3")
    assert (data["output"], data["exitCode"]) == ("hi\noops\n", 3), data
    data, _ = await call("write_file", path="d/a.txt", content="grün\n")
    assert data["size"] == 6, data
    data, _ = await call("read_file", path="d/a.txt")
    assert data["content"] == "grün\n", data
    data, _ = await call("read_file", path="d")
    assert [one["name"] for one in data["entries"]] == ["a.txt"], data
    data, failed = await call("read_file", path="none")
    assert failed and data["code"] == "FILE_NOT_FOUND" and data["remedy"], data
    data, _ = await call("exec", command="echo one; sleep 1; echo two", waitSeconds=0)
    assert data["running"], data
    handle, offset, text = data["handle"], data["nextOffset"], data["output"]
    while data["running"]:
        data, _ = await call("output", handle=handle, offset=offset)
        offset, text = data["nextOffset"], text + data["output"]
    assert (text, data["exitCode"]) == ("one\ntwo\n", 0), (text, data)
    data, _ = await call("snapshot")
    data, _ = await call("create_sandbox", **{"from": data["snapshot"]})
    copy = data["sandbox"]
    data, _ = await call("read_file", sandbox=copy, path="d/a.txt")
    assert data["content"] == "grün\n", data
    data, _ = await call("list_sandboxes")
    assert copy in [one["sandbox"] for one in data["sandboxes"]], data
    data, failed = await call("destroy_sandbox", sandbox=copy)
    assert not failed, data
    data, _ = await call("preview_url", port=8000)
    assert "isola_token=" in data["url"], data
    data, _ = await call("exec", command="sleep 100", waitSeconds=0)
    await call("kill", handle=data["handle"])
    data, _ = await call("output", handle=data["handle"])
    assert data["exit"] == "killed by SIGKILL", data
    print("tour ok")


async def restart(call, tools):
    data, _ = await call(
        "exec", command="echo before; while [ ! -e go ]; do sleep 0.1; done; echo after", waitSeconds=1
    )
    assert data["running"], data
    print("started", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    handle, offset = data["handle"], data["nextOffset"]
    await call("write_file", sandbox=handle.split("/")[0], path="go", content="")
    text = data["output"]
    while data["running"]:
        data, _ = await call("output", handle=handle, offset=offset)
        offset, text = data["nextOffset"], text + data["output"]
    assert (text, data["exitCode"]) == ("before\nafter\n", 0), (text, data)
    print("restart ok")


async def run(call, tools):
    await {"tour": tour, "restart": restart}[os.environ["ISOLA_MCP_PROGRAM"]](call, tools)


def url():
    return os.environ["ISOLA_URL"] + "/mcp"


def headers():
    found = {"Authorization": "Bearer " + os.environ["ISOLA_API_KEY"]}
    if "ISOLA_MCP_SANDBOX" in os.environ:
        found["Isola-Sandbox"] = os.environ["ISOLA_MCP_SANDBOX"]
    return found


def stdio_command():
    """The words of isola mcp; empty for HTTP."""
    return [word for word in os.environ.get("ISOLA_MCP_COMMAND", "").split("\n") if word]
