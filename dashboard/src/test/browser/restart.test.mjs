import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { adminKey, openPage, request, screen, signIn, until } from './setup.mjs';

const data = mkdtempSync(join(tmpdir(), 'isola-ui-'));
let server;

/** Starts a server on this port, or on a free one. */
async function start(port = 0) {
  server = spawn(process.env.ISOLA_TEST_COMMAND, ['serve', '--port', String(port)], {
    env: { ...process.env, ISOLA_DATA: data, ISOLA_API_KEY: adminKey, ISOLA_PROVIDER: 'bubblewrap', ISOLA_URL: '' },
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

test('a terminal and the session survive a server that is killed and started again', async () => {
  const base = await start();
  const made = await request('POST', '/api/v1/sandboxes', { ttlSeconds: 600 }, { base });
  const { page, close } = await openPage({ expected: /./, base });
  await signIn(page, { at: `sandboxes/${made.id}/terminal`, base });
  await until('a prompt', async () => /[#$] *$/.test((await screen(page)).trimEnd()));
  await page.keyboard.type('n=0; while [ $n -lt 100 ]; do n=$((n+1)); echo tick-$n; sleep 0.1; done; echo all-$((1+1))\n');
  await until('output', async () => (await screen(page)).includes('tick-3'));
  await kill('SIGKILL');
  await page.getByText('reconnecting').waitFor();
  await start(new URL(base).port);
  await page.getByText('attached').waitFor({ timeout: 60_000 });
  await until('the end', async () => (await screen(page)).includes('all-2'), 60_000);
  const text = await screen(page);
  for (let n = 1; n <= 100; n += 1) {
    assert.equal(text.split('\n').filter((line) => line.trim() === `tick-${n}`).length, 1, `tick-${n}: ${text.split('\n').slice(n - 3, n + 5).join('|')}`);
  }
  await page.keyboard.type('echo still-$((40+2))\n');
  await until('typing', async () => (await screen(page)).includes('still-42'));
  await request('DELETE', `/api/v1/sandboxes/${made.id}?force=true`, undefined, { base });
  await close();
});
