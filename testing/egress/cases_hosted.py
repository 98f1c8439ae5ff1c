"""A hosted MCP server has the rules and the secrets of its sandbox."""

from live import allow
from suite import case

SERVER = """
import json, os, sys, urllib.request

def fetch(url):
    headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return "%d %s" % (answer.status, os.environ["TOKEN"])
    except OSError as e:
        return "failed: %s" % e

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        info = {"name": "fetch", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": fetch(message["params"]["arguments"]["url"])}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def fetch(box, url):
    params = {"name": "fetch", "arguments": {"url": url}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return box.server.call("POST", box.path + "/mcp", body)["result"]["content"][0]["text"]


@case("hosted MCP server", quick=True)
def hosted(c):
    value = "ghp_planted1Value2With3Enough4Room5ForIt"
    c.main.call("PUT", "/api/v1/secrets/hosted", {"value": value, "hosts": ["ok.example"]})
    box = c.main.create(
        [allow("ok.example", 80)],
        egress={"secrets": {"TOKEN": "hosted"}},
        containerType="mcp_server",
        mcp={"command": "python3", "args": ["/workspace/server.py"]},
    )
    try:
        box.write("/workspace/server.py", SERVER)
        denied = fetch(box, "http://denied.example/")
        assert "200" not in denied and not c.net.reached("203.0.113.11"), denied
        answer = fetch(box, "http://ok.example/hosted")
        assert value not in answer, answer
        arrived = [repr(one) for one in c.net.since("http") if one["path"] == "/hosted"]
        c.control(
            answer.startswith("200 ") and len(arrived) == 1 and value in arrived[0],
            "the allowed site, which receives the secret",
        )
    finally:
        box.destroy()
        c.main.request("DELETE", "/api/v1/secrets/hosted")
