// Uses a hosted server with the SDKs for Node.
// ISOLA_MCP_SDK: client (2.x, which probes for the era) or sdk (1.x, the era with sessions).
import assert from "node:assert/strict";

const env = process.env;
const modern = env.ISOLA_MCP_SDK === "client";
const [{ Client }, { StreamableHTTPClientTransport }] = modern
  ? [await import("@modelcontextprotocol/client"), await import("@modelcontextprotocol/client")]
  : [
      await import("@modelcontextprotocol/sdk/client/index.js"),
      await import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    ];
const headers = { Authorization: "Bearer " + env.ISOLA_API_KEY };
const client = new Client(
  { name: "isola-tests", version: "1" },
  modern ? { versionNegotiation: { mode: "auto" } } : {},
);
await client.connect(new StreamableHTTPClientTransport(new URL(env.ISOLA_MCP_URL), { requestInit: { headers } }));
if (modern) {
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
}
assert.ok((await client.listTools()).tools.length);
if (env.ISOLA_MCP_HOSTED === "everything") {
  const result = await client.callTool({ name: "echo", arguments: { message: "hällo" } });
  assert.equal(result.content[0].text, "Echo: hällo");
  assert.ok((await client.listPrompts()).prompts.length);
  const uri = (await client.listResources()).resources[0].uri;
  assert.ok((await client.readResource({ uri })).contents.length);
} else {
  const result = await client.callTool({ name: "count", arguments: { to: 3 } });
  assert.equal(result.content[0].text, "counted to 3");
}
const failed = await client.callTool({ name: "none", arguments: {} }).then(
  (result) => result.isError,
  () => true,
);
assert.ok(failed);
await client.close();
console.log("hosted ok");
process.exit(0);
