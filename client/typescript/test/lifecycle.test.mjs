import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Conflict, Gone, Isola, NotFound, Sandbox, Unauthenticated } from "@isola/sdk";
import { isola, until, withSandbox } from "./setup.mjs";

const url = process.env.ISOLA_URL;
const key = process.env.ISOLA_API_KEY;

test("a sandbox is created, listed, attached to and destroyed", async () => {
  const name = `ts-${process.pid}`;
  const sandbox = await Sandbox.create({ name, tags: { from: "ts" }, env: { A: "1" } }, { url, key });
  const attached = Sandbox.attach(sandbox.id);
  assert.equal((await attached.exec("echo $A")).stdout, "1\n");
  assert.equal((await isola.list({ name })).length, 1);
  assert.equal((await Sandbox.list({ state: ["running"], ref: sandbox.id }))[0].id, sandbox.id);
  assert.equal((await isola.resolve(name)).id, sandbox.id);
  assert.equal((await isola.resolve(sandbox.id.slice(0, 12))).id, sandbox.id);
  await assert.rejects(isola.resolve("no-such-name"), NotFound);
  await assert.rejects(isola.create({ name }), Conflict);
  await attached[Symbol.asyncDispose]();
  assert.equal((await sandbox.info()).state, "running");
  await sandbox.destroy();
  await assert.rejects(attached.exec("true"), (error) => error instanceof Gone || error instanceof NotFound);
});

test("the end of a handle destroys the sandbox, unless it is detached", async () => {
  const sandbox = await isola.create();
  await sandbox[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  assert.deepEqual(await isola.list({ ref: sandbox.id }), []);
  const kept = (await isola.create()).detach();
  await kept[Symbol.asyncDispose]();
  assert.equal((await kept.info()).state, "running");
  const other = await isola.create();
  await isola.sandbox(other.id).destroy();
  await other[Symbol.asyncDispose](); // it is destroyed already
  await kept.destroy();
});

test(
  "a sandbox is paused, resumed, stopped, renewed and waited for",
  withSandbox(async (sandbox) => {
    assert.equal((await sandbox.pause()).state, "paused");
    assert.equal((await sandbox.awaitState(["paused", "stopped"])).state, "paused");
    assert.equal((await sandbox.resume()).state, "running");
    await assert.rejects(sandbox.awaitState("paused", { timeoutMs: 100 }), { code: "DEADLINE_EXCEEDED" });
    const before = Date.parse((await sandbox.info()).expiresAt);
    assert.ok(Date.parse((await sandbox.renew(7200)).expiresAt) > before);
    assert.equal((await sandbox.status()).health, "healthy");
    assert.ok((await sandbox.usage()).memoryBytes >= 0);
    await sandbox.files.write("kept", "1");
    assert.equal((await sandbox.stop()).state, "stopped");
    await sandbox.resume();
    assert.equal(await sandbox.files.readText("kept"), "1");
  }),
);

test("a wrong key and no key are errors of their own", async () => {
  const wrong = new Isola({ url, key: "isk_ffffffffffffffffffffffffffffffff" });
  await assert.rejects(wrong.create(), (error) => {
    assert.ok(error instanceof Unauthenticated);
    assert.deepEqual([error.code, error.status, error.category], ["UNAUTHENTICATED", 401, "CALLER"]);
    assert.ok(!JSON.stringify(error).includes("ffffffff"), "the error contains the key");
    return true;
  });
  const { ISOLA_API_KEY } = process.env;
  delete process.env.ISOLA_API_KEY;
  try {
    assert.throws(() => new Isola(), Unauthenticated);
  } finally {
    process.env.ISOLA_API_KEY = ISOLA_API_KEY;
  }
  assert.throws(() => new Isola({ url: "ftp://x" }), { code: "INVALID_REQUEST" });
  assert.throws(() => new Isola({ key: "a\nb" }), { code: "INVALID_REQUEST" });
});

test("an invalid spec names every violation", async () => {
  await assert.rejects(isola.create({ image: "", nonsense: 1 }), (error) => {
    assert.equal(error.status, 400);
    assert.match(error.message, /nonsense/);
    assert.match(error.message, /image/);
    return true;
  });
});

test("a create whose response is lost makes one sandbox", async () => {
  let requests = 0;
  // Passes requests on, and drops the connection instead of the first response.
  const proxy = createServer(async (request, response) => {
    const body = await new Response(request).text();
    const passed = await fetch(url + request.url, { method: request.method, headers: headersOf(request), body });
    const answer = await passed.text();
    if (++requests === 1) {
      request.socket.destroy();
      return;
    }
    response.writeHead(passed.status, { "Content-Type": "application/json" }).end(answer);
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    const tag = `lost-${process.pid}`;
    const behind = new Isola({ url: `http://127.0.0.1:${proxy.address().port}`, key });
    const sandbox = await behind.create({ tags: { tag } });
    assert.equal(requests, 2);
    const made = await isola.list({ tag: [`tag=${tag}`] });
    assert.deepEqual(made.map((one) => one.id), [sandbox.id]);
    await isola.sandbox(sandbox.id).destroy();
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

function headersOf(request) {
  const { host, connection, "transfer-encoding": coding, "content-length": length, ...headers } = request.headers;
  return headers;
}

test("lifecycle events are streamed", async () => {
  const events = await isola.events({ type: ["ready", "terminate"] });
  const sandbox = await isola.create();
  const seen = [];
  const reading = (async () => {
    for await (const event of events) {
      if (event.sandbox === sandbox.id) {
        seen.push(event.type);
        if (event.type === "terminate") {
          break;
        }
      }
    }
  })();
  await until(() => seen.includes("ready"));
  await sandbox.destroy();
  await reading;
  assert.deepEqual(seen, ["ready", "terminate"]);
});

test("providers and keys are managed", async () => {
  const { providers, apiVersions } = await isola.providers();
  assert.ok(providers.length > 0 && apiVersions.length > 0);
  const name = `ts-key-${process.pid}`;
  const made = await isola.keys.create({ name, scope: "read" });
  const reader = new Isola({ url, key: made.key });
  await reader.list();
  await assert.rejects(reader.create(), { code: "FORBIDDEN" });
  await isola.keys.revoke(name);
  await assert.rejects(reader.list(), Unauthenticated);
});
