import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadlineExceeded, InvalidRequest, shellCode } from "@isola/sdk";
import { isola, until, withSandbox } from "./setup.mjs";

test(
  "exec returns the output and the exit code",
  withSandbox(async (sandbox) => {
    const result = await sandbox.exec("echo out; echo err >&2; exit 3");
    assert.equal(result.stdout, "out\n");
    assert.equal(result.stderr, "err\n");
    assert.equal(result.exitCode, 3);
    assert.deepEqual(result.exit, { kind: "exited", code: 3 });
    assert.equal(result.truncated, false);
  }),
);

test(
  "a list runs without a shell, args are quoted, env and cwd apply",
  withSandbox(async (sandbox) => {
    assert.equal((await sandbox.exec(["printf", "%s|", "a b", "$HOME", "'"])).stdout, "a b|$HOME|'|");
    assert.equal((await sandbox.exec("printf '%s|'", { args: ["a b", "$HOME;ls"] })).stdout, "a b|$HOME;ls|");
    assert.equal((await sandbox.exec("echo $V; pwd", { env: { V: "ü" }, cwd: "/tmp" })).stdout, "ü\n/tmp\n");
    await assert.rejects(sandbox.exec(["no-such-program"]), { code: "COMMAND_NOT_FOUND" });
    await assert.rejects(sandbox.exec([]), InvalidRequest);
  }),
);

test(
  "stdin is passed to a command, also to one that does not read it",
  withSandbox(async (sandbox) => {
    assert.equal((await sandbox.exec("wc -c", { stdin: "x".repeat(3_000_000) })).stdout.trim(), "3000000");
    assert.equal((await sandbox.exec("true", { stdin: "x".repeat(3_000_000) })).exitCode, 0);
    const stream = new Blob(["from ", "a stream"]).stream();
    assert.equal((await sandbox.exec("cat", { stdin: stream })).stdout, "from a stream");
  }),
);

test(
  "a timeout ends the command and is a result",
  withSandbox(async (sandbox) => {
    const result = await sandbox.exec("echo begun; sleep 60", { timeoutMs: 300 });
    assert.equal(result.stdout, "begun\n");
    assert.equal(result.timedOut, true);
    assert.equal(result.exitCode, 124);
  }),
);

test(
  "callbacks receive whole characters while the command runs",
  withSandbox(async (sandbox) => {
    const seen = [];
    const result = await sandbox.exec("printf '\\303'; sleep 0.2; printf '\\274\\n'; echo e >&2", {
      onStdout: (text) => seen.push(text),
      onStderr: (text) => seen.push(`stderr ${text}`),
    });
    assert.equal(result.stdout, "ü\n");
    assert.ok(seen.join("").includes("ü\n"), seen.join());
    assert.ok(seen.includes("stderr e\n"), seen.join());
  }),
);

test(
  "output beyond the limit keeps its beginning and its end",
  withSandbox(async (sandbox) => {
    const result = await sandbox.exec("seq 1 200000", { outputLimit: 1000 });
    assert.equal(result.truncated, true);
    assert.equal(result.stdoutBytes, 1_288_895);
    assert.equal(result.stdout.length, 1000);
    assert.ok(result.stdout.startsWith("1\n2\n") && result.stdout.endsWith("199999\n200000\n"));
  }),
);

test(
  "an aborted exec kills its command",
  withSandbox(async (sandbox) => {
    const controller = new AbortController();
    const call = sandbox.exec("echo $$ > pid; sleep 600", { signal: controller.signal });
    await until(async () => sandbox.files.find("pid"));
    controller.abort();
    await assert.rejects(call, (error) => error instanceof DeadlineExceeded && error.code === "CANCELLED");
    await until(async () => (await sandbox.executions()).every((execution) => !execution.running));
  }),
);

test(
  "an aborted signal sends nothing",
  withSandbox(async (sandbox) => {
    await assert.rejects(sandbox.exec("touch made", { signal: AbortSignal.abort() }), { code: "CANCELLED" });
    assert.equal(await sandbox.files.find("made"), undefined);
  }),
);

test(
  "output is iterated while the command runs, and continues by offset",
  withSandbox(async (sandbox) => {
    const execution = await sandbox.start("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 7");
    for await (const output of execution) {
      assert.equal(output.text, "one\n");
      break;
    }
    assert.equal(execution.offset, 4);
    await sandbox.files.write("go", "");
    const again = isola.sandbox(sandbox.id).execution(execution.id, execution.offset);
    let rest = "";
    const exit = await again.wait({ onStdout: (text) => (rest += text) });
    assert.equal(rest, "two\n");
    assert.equal(shellCode(exit), 7);
    assert.equal((await execution.info()).running, false);
  }),
);

test(
  "stdin of a background command stays open",
  withSandbox(async (sandbox) => {
    const execution = await sandbox.start("read a; read b; echo $b-$a; cat", { stdin: true });
    await execution.write("1\n");
    await execution.write(new TextEncoder().encode("2\n"));
    await execution.write("rest");
    await execution.closeStdin();
    let text = "";
    await execution.wait({ onStdout: (piece) => (text += piece) });
    assert.equal(text, "2-1\nrest");
  }),
);

test(
  "signals reach a command, and kill ends its descendants",
  withSandbox(async (sandbox) => {
    const trapped = await sandbox.start("trap 'echo got; exit 5' TERM; echo ready; while :; do sleep 0.05; done");
    assert.equal((await trapped.read()).text, "ready\n");
    await trapped.signal("TERM");
    assert.equal(shellCode(await trapped.wait()), 5);
    const tree = await sandbox.start("sleep 600 & echo ready; wait");
    assert.equal((await tree.read()).text, "ready\n");
    await tree.kill();
    assert.equal((await tree.wait()).kind, "signaled");
  }),
);

test(
  "an aborted iteration stops reading and not the command",
  withSandbox(async (sandbox) => {
    const execution = await sandbox.start("echo a; sleep 600");
    const controller = new AbortController();
    await assert.rejects(
      (async () => {
        for await (const output of execution.output({ signal: controller.signal })) {
          assert.equal(output.text, "a\n");
          controller.abort();
        }
      })(),
      { code: "CANCELLED" },
    );
    assert.equal((await execution.info()).running, true);
  }),
);

test(
  "hostile output arrives byte by byte as written",
  withSandbox(async (sandbox) => {
    // A long line without an end, what looks like events, every byte value, and invalid UTF-8.
    const execution = await sandbox.start(
      "head -c 9000000 /dev/zero | tr '\\0' x;" +
        " printf '\\n\\nevent: exit\\ndata: {\"kind\":\"exited\",\"code\":0}\\n\\n\\r\\n\\000\\377\\376\\303('; exit 9",
    );
    const chunks = [];
    for await (const output of execution) {
      assert.equal(output.type, "data");
      chunks.push(output.bytes);
    }
    const all = Buffer.concat(chunks);
    const tail = Buffer.from(
      '\n\nevent: exit\ndata: {"kind":"exited","code":0}\n\n\r\n\x00\xff\xfe\xc3(',
      "latin1",
    );
    assert.equal(all.length, 9_000_000 + tail.length);
    assert.ok(all.subarray(0, 9_000_000).every((byte) => byte === 0x78));
    assert.deepEqual(all.subarray(9_000_000), tail);
    assert.deepEqual(execution.exit, { kind: "exited", code: 9 });
  }),
);
