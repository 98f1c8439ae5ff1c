import assert from "node:assert/strict";
import { test } from "node:test";
import { Isola, shellCode } from "@isola/sdk";
import { isola, withSandbox } from "./setup.mjs";

const withTerminals = (test) => (context) =>
  typeof WebSocket === "undefined" ? context.skip("Node.js has no WebSocket here") : test(context);

/** Reads until the output contains the text. */
async function expect(terminal, text) {
  let seen = "";
  while (!seen.includes(text)) {
    const output = await terminal.read({ signal: AbortSignal.timeout(10_000) });
    assert.ok(output, `the terminal ended after ${JSON.stringify(seen)}`);
    seen += output.text ?? "";
  }
  return seen;
}

test(
  "a terminal takes keys, has a size and ends with its command",
  withTerminals(
    withSandbox(async (sandbox) => {
      const terminal = await sandbox.terminal("stty size; read line; echo got $line; stty size; exit 4", {
        rows: 10,
        cols: 40,
      });
      await expect(terminal, "10 40");
      await terminal.resize({ rows: 20, cols: 60 });
      await terminal.write("ü\r");
      const rest = await expect(terminal, "20 60");
      assert.match(rest, /got ü/);
      assert.equal(shellCode(await terminal.wait()), 4);
    }),
  ),
);

test(
  "a terminal is attached to again by offset",
  withTerminals(
    withSandbox(async (sandbox) => {
      const terminal = await sandbox.terminal("echo first; read line; echo second");
      await expect(terminal, "first");
      terminal.close();
      await assert.rejects(terminal.read(), { code: "CANCELLED" });
      const again = isola.sandbox(sandbox.id).attach(terminal.id, terminal.offset);
      await again.write("\r");
      const seen = await expect(again, "second");
      assert.doesNotMatch(seen, /first/);
      assert.equal((await again.wait()).kind, "exited");
    }),
  ),
);

test(
  "a terminal that does not exist or is not allowed says why",
  withTerminals(
    withSandbox(async (sandbox) => {
      await assert.rejects(sandbox.attach("no-such-execution").read(), { code: "EXECUTION_NOT_FOUND" });
      const wrong = new Isola({ key: "isk_ffffffffffffffffffffffffffffffff" }).sandbox(sandbox.id);
      await assert.rejects(wrong.attach("1").read(), { code: "UNAUTHENTICATED" });
    }),
  ),
);

test(
  "without a WebSocket the error says what to do",
  withSandbox(async (sandbox) => {
    const saved = globalThis.WebSocket;
    globalThis.WebSocket = undefined;
    try {
      const terminal = await new Isola().sandbox(sandbox.id).terminal("true");
      await assert.rejects(terminal.read(), (error) => {
        assert.equal(error.code, "NOT_IMPLEMENTED");
        assert.match(error.hint, /option webSocket/);
        return true;
      });
    } finally {
      globalThis.WebSocket = saved;
    }
  }),
);
