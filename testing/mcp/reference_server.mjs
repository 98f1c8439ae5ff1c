// The server that the scenarios of MCP's conformance package describe, on standard input and output, so that a
// sandbox can host it. The package tests servers and ships none.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const none = { type: "object", properties: {} };
const text = (words) => ({ type: "text", text: words });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const server = new Server(
  { name: "reference", version: "1" },
  {
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      logging: {},
      completions: {},
    },
  },
);

async function elicit(message, properties, required = []) {
  const params = { message, requestedSchema: { type: "object", properties, required } };
  const result = await server.request({ method: "elicitation/create", params }, types.ElicitResultSchema);
  return [text(`Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content ?? {})}`)];
}

const titled = (words) => [1, 2, 3].map((n) => ({ const: "value" + n, title: words[n - 1] }));
const options = ["option1", "option2", "option3"];

const tools = {
  test_simple_text: [none, async () => [text("This is a simple text response for testing.")]],
  test_image_content: [none, async () => [image]],
  test_audio_content: [none, async () => [{ type: "audio", data: WAV, mimeType: "audio/wav" }]],
  test_embedded_resource: [
    none,
    async () => [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  ],
  test_multiple_content_types: [
    none,
    async () => [
      text("Multiple content types test:"),
      image,
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  ],
  test_tool_with_logging: [
    none,
    async () => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await server.notification({ method: "notifications/message", params: { level: "info", data } });
        await sleep(50);
      }
      return [text("logged")];
    },
  ],
  test_tool_with_progress: [
    none,
    async (args, meta) => {
      for (const progress of [0, 50, 100]) {
        if (meta?.progressToken !== undefined) {
          const params = { progressToken: meta.progressToken, progress, total: 100 };
          await server.notification({ method: "notifications/progress", params });
        }
        await sleep(50);
      }
      return [text("done")];
    },
  ],
  test_error_handling: [
    none,
    async () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  ],
  test_reconnection: [none, async () => [text("Reconnection test completed successfully")]],
  test_sampling: [
    { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    async ({ prompt }) => {
      const params = { messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 };
      const result = await server.request(
        { method: "sampling/createMessage", params },
        types.CreateMessageResultSchema,
      );
      return [text("LLM response: " + result.content.text)];
    },
  ],
  test_elicitation: [
    { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    async ({ message }) => {
      const words = { username: { type: "string", description: "User's response" } };
      words.email = { type: "string", description: "User's email address" };
      return elicit(message, words, ["username", "email"]);
    },
  ],
  test_elicitation_sep1034_defaults: [
    none,
    () =>
      elicit("Please confirm", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
  ],
  test_elicitation_sep1330_enums: [
    none,
    () =>
      elicit("Please choose", {
        untitledSingle: { type: "string", enum: options },
        titledSingle: { type: "string", oneOf: titled(["First Option", "Second Option", "Third Option"]) },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: options } },
        titledMulti: { type: "array", items: { anyOf: titled(["First Choice", "Second Choice", "Third Choice"]) } },
      }),
  ],
  json_schema_2020_12_tool: [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    async () => [text("ok")],
  ],
};

server.setRequestHandler(types.ListToolsRequestSchema, async () => ({
  tools: Object.entries(tools).map(([name, [inputSchema]]) => ({ name, description: "Test " + name, inputSchema })),
}));
server.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
  const tool = tools[params.name];
  if (!tool) {
    throw new types.McpError(types.ErrorCode.InvalidParams, "unknown tool");
  }
  try {
    return { content: await tool[1](params.arguments ?? {}, params._meta) };
  } catch (error) {
    return { isError: true, content: [text(error.message)] };
  }
});

const resource = (uri, mimeType) => ({ uri, name: uri.slice(7), description: "Test " + uri, mimeType });
server.setRequestHandler(types.ListResourcesRequestSchema, async () => ({
  resources: [
    resource("test://static-text", "text/plain"),
    resource("test://static-binary", "image/png"),
    resource("test://watched-resource", "text/plain"),
  ],
}));
server.setRequestHandler(types.ListResourceTemplatesRequestSchema, async () => ({
  resourceTemplates: [
    { uriTemplate: "test://template/{id}/data", name: "data", description: "Test data", mimeType: "application/json" },
  ],
}));
server.setRequestHandler(types.ReadResourceRequestSchema, async ({ params: { uri } }) => {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id) {
    const data = JSON.stringify({ id, templateTest: true, data: "Data for ID: " + id });
    return { contents: [{ uri, mimeType: "application/json", text: data }] };
  }
  if (uri === "test://static-binary") {
    return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
  }
  if (uri === "test://static-text" || uri === "test://watched-resource") {
    return { contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }] };
  }
  throw new types.McpError(-32002, "no such resource");
});
server.setRequestHandler(types.SubscribeRequestSchema, async () => ({}));
server.setRequestHandler(types.UnsubscribeRequestSchema, async () => ({}));
server.setRequestHandler(types.SetLevelRequestSchema, async () => ({}));
server.setRequestHandler(types.CompleteRequestSchema, async () => ({
  completion: { values: ["paris", "park", "party"], total: 3, hasMore: false },
}));

const user = (content) => ({ role: "user", content });
const prompts = {
  test_simple_prompt: [[], () => [user(text("This is a simple prompt for testing."))]],
  test_prompt_with_arguments: [
    ["arg1", "arg2"],
    ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  ],
  test_prompt_with_embedded_resource: [
    ["resourceUri"],
    ({ resourceUri }) => [
      user({
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      }),
      user(text("Please process the embedded resource above.")),
    ],
  ],
  test_prompt_with_image: [[], () => [user(image), user(text("Please analyze the image above."))]],
};
server.setRequestHandler(types.ListPromptsRequestSchema, async () => ({
  prompts: Object.entries(prompts).map(([name, [words]]) => ({
    name,
    description: "Test " + name,
    arguments: words.map((word) => ({ name: word, description: "Test " + word, required: true })),
  })),
}));
server.setRequestHandler(types.GetPromptRequestSchema, async ({ params }) => {
  const prompt = prompts[params.name];
  if (!prompt) {
    throw new types.McpError(types.ErrorCode.InvalidParams, "unknown prompt");
  }
  return { messages: prompt[1](params.arguments ?? {}) };
});

await server.connect(new StdioServerTransport());
