import assert from "node:assert/strict";
import { test } from "node:test";
import { Conflict, InvalidRequest, NotFound, packTree, unpackTree } from "@isola/sdk";
import { withSandbox } from "./setup.mjs";

test(
  "files are written, described and read",
  withSandbox(async ({ files }) => {
    const written = await files.write("a/b.txt", "hällo", { mode: 0o750 });
    assert.equal(written.size, 6);
    assert.equal(await files.readText("a/b.txt"), "hällo");
    assert.equal((await files.stat("a/b.txt")).mode, "0750");
    await files.changeMode("a/b.txt", 0o600);
    assert.equal((await files.stat("a/b.txt")).mode, "0600");
    await files.write("bytes", new Uint8Array([0, 255, 10]));
    assert.deepEqual([...(await files.readBytes("bytes"))], [0, 255, 10]);
    await files.write("empty", "");
    assert.equal(await files.readText("empty"), "");
  }),
);

test(
  "missing files and folders have errors of their own",
  withSandbox(async ({ files, id }) => {
    await assert.rejects(files.readText("missing"), (error) => {
      assert.ok(error instanceof NotFound);
      assert.equal(error.code, "FILE_NOT_FOUND");
      assert.equal(error.category, "CALLER");
      assert.equal(error.sandboxId, id);
      assert.ok(error.hint && error.requestId && error.isRetryable === false);
      return true;
    });
    assert.equal(await files.find("missing"), undefined);
    await files.makeFolder("folder/sub");
    await assert.rejects(files.readText("folder"), InvalidRequest);
    await assert.rejects(files.remove("folder"), Conflict);
  }),
);

test(
  "folders are listed, searched, moved and removed",
  withSandbox(async ({ files }) => {
    await files.write("d/one.js", "1");
    await files.write("d/sub/two.js", "2");
    const names = async (list) => (await list).map((file) => file.path).sort();
    assert.equal((await files.list("d")).length, 2);
    assert.equal((await files.list("d", { depth: 0 })).length, 3);
    assert.equal((await names(files.glob("d", "**/*.js"))).length, 2);
    await files.move("d/one.js", "d/three.js");
    await assert.rejects(files.move("d/three.js", "d/sub/two.js"), Conflict);
    await files.move("d/three.js", "d/sub/two.js", { replace: true });
    assert.equal(await files.readText("d/sub/two.js"), "1");
    await files.remove("d", { recursive: true });
    assert.equal(await files.find("d"), undefined);
  }),
);

test(
  "names with any characters stay what they are",
  withSandbox(async ({ files }) => {
    for (const name of ["a b+c%20&d=e?f#g", "ü\u{1F600}", "'\"\\;$(id)", "line\nbreak", "..."]) {
      await files.write(`odd/${name}`, name);
      assert.equal(await files.readText(`odd/${name}`), name);
    }
    assert.equal((await files.list("odd")).length, 5);
  }),
);

test(
  "large content is streamed in both directions, with progress",
  withSandbox(async ({ files }) => {
    const piece = new Uint8Array(1 << 20).fill(7);
    let left = 12;
    const content = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
    });
    const sent = [];
    await files.write("large", content, { progress: (bytes) => sent.push(bytes) });
    assert.equal(sent.at(-1), 12 << 20);
    assert.ok(sent.length >= 12);
    let received = 0;
    let reported = 0;
    for await (const chunk of await files.read("large", { progress: (bytes) => (reported = bytes) })) {
      received += chunk.length;
    }
    assert.equal(received, 12 << 20);
    assert.equal(reported, received);
    await assert.rejects(files.readBytes("large", { limit: 1000 }), InvalidRequest);
    const part = await files.read("large");
    await part.cancel();
  }),
);

test(
  "an upload whose source fails throws the error of the source and writes nothing",
  withSandbox(async ({ files }) => {
    const content = new ReadableStream({
      pull() {
        throw new Error("the disk is broken");
      },
    });
    await assert.rejects(files.write("never", content), /the disk is broken/);
    assert.equal(await files.find("never"), undefined);
  }),
);

test(
  "trees are written and read in one request",
  withSandbox(async (sandbox) => {
    const long = `${"deep/".repeat(40)}ü.txt`;
    let sent = 0;
    const tree = { "run.sh": { content: "echo ran", mode: 0o755 }, "src/a.txt": "1", [long]: new Uint8Array([1, 2, 3]) };
    const summary = await sandbox.files.writeTree("tree", tree, { progress: (bytes) => (sent = bytes) });
    assert.equal(summary.entries, 3);
    assert.ok(sent > 0);
    assert.equal((await sandbox.exec("tree/run.sh && ln -s /etc/passwd tree/link")).stdout, "ran\n");
    const read = new Map();
    for await (const entry of sandbox.files.readTree("tree", { exclude: ["src/**"] })) {
      read.set(entry.path, entry);
    }
    assert.equal(new TextDecoder().decode(read.get("run.sh").bytes), "echo ran");
    assert.equal(read.get("run.sh").mode, 0o755);
    assert.deepEqual([...read.get(long).bytes], [1, 2, 3]);
    assert.equal(read.get("link").linkTarget, "/etc/passwd");
    assert.equal(read.has("src/a.txt"), false);
    const archive = await new Response(await sandbox.files.exportTree("tree")).arrayBuffer();
    await sandbox.files.importTree("copy", new Uint8Array(archive));
    assert.equal(await sandbox.files.readText(`copy/${long}`), "\u0001\u0002\u0003");
  }),
);

test("an archive that is not trusted cannot leave its folder or lie about sizes", async () => {
  const read = async (archive) => {
    for await (const entry of unpackTree(archive.stream())) {
      assert.ok(entry);
    }
  };
  await assert.rejects(read(packTree({ "../out": "x" })), { code: "BAD_ARCHIVE" });
  await assert.rejects(read(packTree({ "/etc/passwd": "x" })), { code: "BAD_ARCHIVE" });
  await assert.rejects(read(packTree({ a: "x" }).slice(0, 700)), { code: "BAD_ARCHIVE" });
  const archive = new Uint8Array(await packTree({ a: "x" }).arrayBuffer());
  for (const [field, at] of Object.entries({ mode: 104, size: 124 })) {
    const altered = archive.slice();
    altered[at] = 0x37;
    await assert.rejects(read(new Blob([altered])), { code: "BAD_ARCHIVE" }, `the ${field} was altered`);
  }
});

test(
  "a batch is one request",
  withSandbox(async ({ files }) => {
    const done = await files.batch([
      { op: "write", path: "a.js", content: "1" },
      { op: "read", path: "a.js" },
      { op: "read", path: "missing" },
      { op: "write", path: "b.js", content: "2" },
    ]);
    assert.equal(done.results[1].content, "1");
    assert.equal(done.failed, 1);
    assert.equal(await files.find("b.js"), undefined);
  }),
);

test(
  "a watch reports changes until its folder is removed",
  withSandbox(async ({ files }) => {
    await files.makeFolder("watched/sub");
    const watch = await files.watch("watched", { recursive: true });
    await files.write("watched/sub/new.txt", "x");
    const paths = [];
    for await (const change of watch) {
      paths.push(change.path);
      if (change.path.endsWith("sub/new.txt")) {
        break;
      }
    }
    assert.equal(await watch.next(), undefined);
    const second = await files.watch("watched");
    await files.remove("watched", { recursive: true });
    const kinds = [];
    for await (const change of second) {
      kinds.push(change.kind);
    }
    assert.equal(kinds.at(-1), "gone");
  }),
);
