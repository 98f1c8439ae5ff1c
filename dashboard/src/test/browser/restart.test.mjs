import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installation } from './server.mjs';
import { openPage, request, screen, signIn, until } from './setup.mjs';

const { start, kill } = installation();

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
