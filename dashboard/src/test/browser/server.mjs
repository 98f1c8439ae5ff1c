// A server in a process of its own, as an operator starts it: with all providers.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { adminKey, until } from './setup.mjs';

/** Returns functions that start the server and end it; its data is removed after the tests of the file. */
export function installation(env = {}) {
  const data = mkdtempSync(join(tmpdir(), 'isola-ui-'));
  let server;

  /** Starts it on this port, or on a free one; returns its address. */
  async function start(port = 0) {
    server = spawn(process.env.ISOLA_TEST_COMMAND, ['serve', '--port', String(port)], {
      env: { ...process.env, ISOLA_DATA: data, ISOLA_API_KEY: adminKey, ISOLA_PROVIDER: 'bubblewrap', ISOLA_URL: '', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    server.stdout.on('data', (piece) => { printed += piece; });
    const [, address] = await until('the server', () => /listening on (http:\/\/\S+)/.exec(printed), 60_000);
    const base = address.replace('127.0.0.1', 'localhost');
    await until('readiness', () => fetch(`${base}/readyz`).then((one) => one.ok, () => false), 60_000);
    return base;
  }

  function kill(signal) {
    const ended = new Promise((resolve) => { server.once('exit', resolve); });
    server.kill(signal);
    return ended;
  }

  after(async () => {
    if (server?.exitCode === null) await kill('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  });
  return { start, kill };
}

/** Returns a port that is free now. */
export function freePort() {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}
