import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Isola } from "@isola/sdk";
import { until } from "./setup.mjs";

const key = process.env.ISOLA_API_KEY;
const OTHER_PROVIDERS =
  "bubblewrap crun runc gvisor proot docker podman docker-gvisor kata qemu firecracker worktree".split(" ");

/** Starts a server of its own and waits until it listens. */
async function serve(folder, port) {
  // The health checks of the others would delay the start and the end of the server.
  const off = OTHER_PROVIDERS.map((name) => `providers.${name}.enabled=false`);
  const settings = ["floor=process", "provider=subprocess", ...off].flatMap((setting) => ["--set", setting]);
  const args = ["serve", "--port", String(port), "--data", join(folder, "data"), ...settings];
  const env = { ...process.env, XDG_CONFIG_HOME: folder };
  const server = spawn(process.env.ISOLA_TEST_COMMAND, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  server.stdout.on("data", (data) => (printed += data));
  try {
    const url = await until(() => /listening on (http:\S+)/.exec(printed)?.[1]);
    return { server, url };
  } catch (error) {
    await end({ server }, "SIGTERM"); // it would keep this process alive
    throw error;
  }
}

async function end({ server }, signal) {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  if (server.exitCode === null && server.signalCode === null) {
    server.kill(signal);
    await ended;
  }
}

/** Counts until the file go exists, and then a hundred lines more. */
const COUNTING =
  "i=0; n=-1; while [ $n -ne 0 ]; do i=$((i+1)); echo line $i; sleep 0.005;" +
  " if [ $n -gt 0 ]; then n=$((n-1)); elif [ -e go ]; then n=100; fi; done; echo end";

test("output is complete although the server is killed and started again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "isola-ts-"));
  let running = await serve(folder, 0);
  try {
    const isola = new Isola({ url: running.url, key });
    const sandbox = await until(() => isola.create({ ttlSeconds: 600 }).catch(() => undefined));
    let text = "";
    const followed = sandbox.exec(COUNTING, { outputLimit: 8 << 20, onStdout: (piece) => (text += piece) });
    const background = await sandbox.start(COUNTING);
    const pieces = [];
    const iterated = (async () => {
      for await (const output of background) {
        assert.equal(output.type, "data");
        pieces.push(output.text);
      }
    })();
    const watch = await sandbox.files.watch(".", { signal: AbortSignal.timeout(60_000) });
    const terminals = typeof WebSocket !== "undefined";
    const terminal = terminals ? await sandbox.terminal(COUNTING) : undefined;
    let screen = "";
    const shown = (async () => {
      for await (const output of terminal ?? []) {
        assert.equal(output.type, "data");
        screen += output.text;
      }
    })();
    await until(() => text.length > 300 && pieces.length > 10 && (!terminals || screen.length > 100));

    await end(running, "SIGKILL");
    const before = [text.length, pieces.length, screen.length];
    running = await serve(folder, new URL(running.url).port);
    await until(() => text.length > before[0] && pieces.length > before[1] && (!terminals || screen.length > before[2]));

    await sandbox.files.write("go", "");
    const result = await followed;
    await Promise.all([iterated, shown]);
    const expected = (all) => [...Array(all.split("\n").length - 2).keys()].map((i) => `line ${i + 1}\n`).join("") + "end\n";
    assert.equal(result.stdout, expected(text));
    assert.equal(text, result.stdout);
    assert.equal(pieces.join(""), expected(pieces.join("")));
    assert.deepEqual(background.exit, { kind: "exited", code: 0 });
    if (terminals) {
      assert.equal(screen.replaceAll("\r\n", "\n"), expected(screen));
    }
    assert.equal((await watch.next())?.kind, "overflow");
    watch.close();
    await sandbox.destroy({ force: true });
  } finally {
    await end(running, "SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
});
