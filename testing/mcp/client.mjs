// What an agent does with Isola's tools, with the SDKs for Node.
// ISOLA_MCP_SDK: client (2.x, which probes for the era) or sdk (1.x, the era with sessions).
import assert from "node:assert/strict";

const env = process.env;
const modern = env.ISOLA_MCP_SDK === "client";
const command = (env.ISOLA_MCP_COMMAND ?? "").split("\n").filter((word) => word);
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = modern
  ? [
      await import("@modelcontextprotocol/client"),
      await import("@modelcontextprotocol/client/stdio"),
      await import("@modelcontextprotocol/client"),
    ]
  : [
      await import("@modelcontextprotocol/sdk/client/index.js"),
      await import("@modelcontextprotocol/sdk/client/stdio.js"),
      await import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    ];

const headers = { Authorization: "Bearer " + env.ISOLA_API_KEY };
if (env.ISOLA_MCP_SANDBOX) {
  headers["Isola-Sandbox"] = env.ISOLA_MCP_SANDBOX;
}
const transport = command.length
  ? new StdioClientTransport({ command: command[0], args: command.slice(1), env })
  : new StreamableHTTPClientTransport(new URL(env.ISOLA_URL + "/mcp"), { requestInit: { headers } });
const client = new Client(
  { name: "isola-tests", version: "1" },
  modern ? { versionNegotiation: { mode: "auto" } } : {},
);
await client.connect(transport);
if (modern) {
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
}

async function call(name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(result.content[0].text);
  return { ...result.structuredContent, failed: result.isError };
}

assert.ok((await client.listTools()).tools.length <= 10);
let data = await call("exec", { command: "echo hi; exit 3" });
assert.deepEqual([data.output, data.exitCode], ["hi\n", 3]);
await call("write_file", { path: "a.txt", content: "grün\n" });
assert.equal((await call("read_file", { path: "a.txt" })).content, "grün\n");
data = await call("read_file", { path: "none" });
assert.deepEqual([data.failed, data.code], [true, "FILE_NOT_FOUND"]);
data = await call("exec", { command: "echo one; sleep 1; echo two", waitSeconds: 0 });
let text = data.output;
while (data.running) {
  data = await call("output", { handle: data.handle, offset: data.nextOffset });
  text += data.output;
}
assert.deepEqual([text, data.exitCode], ["one\ntwo\n", 0]);

// A cancelled call kills its command.
const abort = new AbortController();
const request = { name: "exec", arguments: { command: "echo $$ > pid; exec sleep 100" } };
const cancelled = modern
  ? client.callTool(request, { signal: abort.signal })
  : client.callTool(request, undefined, { signal: abort.signal });
while ((await call("exec", { command: "cat pid" })).exitCode !== 0);
abort.abort();
await assert.rejects(cancelled);
while ((await call("exec", { command: "kill -0 $(cat pid)" })).exitCode === 0);

await client.close();
console.log("tour ok");
process.exit(0);
