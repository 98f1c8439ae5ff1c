import assert from "node:assert/strict";
import { test } from "node:test";
import { NotFound } from "@isola/sdk";
import { isola, until, withSandbox } from "./setup.mjs";

test(
  "a snapshot is taken, compared, restored and removed",
  withSandbox(async (sandbox) => {
    await sandbox.files.write("state.txt", "1");
    const first = await sandbox.snapshot({ scope: "folder", tags: { step: "1" } });
    await sandbox.files.write("state.txt", "22");
    const second = await sandbox.snapshot({ scope: "folder" });
    assert.equal((await isola.snapshots.diff(first.id, second.id)).changed.length, 1);
    assert.ok((await isola.snapshots.list()).some((one) => one.id === first.id));
    const restored = await isola.snapshots.restore(first.id);
    try {
      assert.equal(await restored.files.readText("state.txt"), "1");
    } finally {
      await restored.destroy();
    }
    await isola.snapshots.remove(first.id);
    await isola.snapshots.remove(second.id);
    await assert.rejects(isola.snapshots.get(first.id), NotFound);
  }),
);

test(
  "forks have copies of the files",
  withSandbox(async (sandbox) => {
    await sandbox.files.write("state.txt", "original");
    const forks = await sandbox.fork({ count: 2 });
    try {
      assert.equal(forks.length, 2);
      await forks[0].files.write("state.txt", "changed");
      assert.equal(await forks[1].files.readText("state.txt"), "original");
      assert.equal(await sandbox.files.readText("state.txt"), "original");
    } finally {
      await Promise.all(forks.map((fork) => fork.destroy()));
    }
  }),
);

test("a volume keeps files beyond the life of a sandbox", async () => {
  const name = `ts-volume-${process.pid}`;
  await isola.volumes.create(name);
  try {
    await isola.volumes.files(name).write("in.csv", "1,2");
    const sandbox = await isola.create({ volumes: [{ type: "volume", source: name, destination: "/data" }] });
    try {
      assert.equal((await sandbox.exec("cat /data/in.csv; echo 3 > /data/out.csv")).stdout, "1,2");
    } finally {
      await sandbox.destroy();
    }
    assert.equal(await isola.volumes.files(name).readText("out.csv"), "3\n");
    assert.ok((await isola.volumes.list()).some((volume) => volume.name === name));
  } finally {
    await isola.volumes.remove(name);
  }
});

test("secrets are stored and never returned", async () => {
  const name = `TS_SECRET_${process.pid}`;
  const put = await isola.secrets.put(name, { value: "hidden-value", hosts: ["api.example.com"] });
  try {
    assert.deepEqual(put.hosts, ["api.example.com"]);
    assert.ok(!JSON.stringify([put, await isola.secrets.get(name), await isola.secrets.list()]).includes("hidden-value"));
  } finally {
    await isola.secrets.remove(name);
  }
  await assert.rejects(isola.secrets.get(name), { code: "SECRET_NOT_FOUND" });
});

test(
  "egress rules are read, added and replaced",
  withSandbox(
    async (sandbox) => {
      assert.equal((await sandbox.egress.report()).default, "deny");
      const denied = await sandbox.exec("exec 3<>/dev/tcp/10.0.0.1/80", { args: [] });
      assert.notEqual(denied.exitCode, 0);
      const hosts = (report) => JSON.stringify(report.rules);
      assert.match(hosts(await sandbox.egress.allow("api.example.com", [443])), /api\.example\.com/);
      assert.match(hosts(await sandbox.egress.deny("*.example.org")), /example\.org/);
      assert.doesNotMatch(hosts(await sandbox.egress.replace({ rules: ["b.example.com"] })), /example\.org/);
    },
    { network: { mode: "filtered", egress: { rules: [] } } },
  ),
);

test(
  "a port is a preview for programs and for browsers",
  withSandbox(async (sandbox) => {
    await sandbox.files.write("index.html", "hello from a port");
    await sandbox.start(["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"]);
    await until(async () => (await sandbox.ports.get(8000)).listening);
    const preview = await sandbox.ports.preview(8000);
    const page = await preview.fetch("/index.html");
    assert.equal(page.status, 200);
    assert.equal(await page.text(), "hello from a port");
    const link = await sandbox.ports.link(8000, { form: "path", ttlSeconds: 60 });
    assert.match(link.url, /^http/);
    assert.equal((await sandbox.ports.setPublic(8000, true)).public, true);
    assert.deepEqual((await sandbox.ports.list()).map((port) => port.port), [8000]);
  }),
);
