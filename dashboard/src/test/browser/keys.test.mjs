import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, openPage, request, signIn, until, url } from './setup.mjs';

const isStrict = async (name) => (await request('GET', '/api/v1/keys')).keys.find((one) => one.name === name).strictNoFallback === true;

test('an operator makes a key strict and not strict, also the own one', async () => {
  const own = await key('admin');
  const { actor } = await request('GET', '/api/v1/session', undefined, { key: own });
  const other = (await request('GET', '/api/v1/session', undefined, { key: await key('use') })).actor;
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page, { withKey: own, at: 'keys' });
  const row = page.getByRole('row').filter({ hasText: other });
  await row.getByRole('button', { name: 'Make strict' }).click();
  await row.getByText('strict: no fallback').waitFor();
  assert.equal(await isStrict(other), true);
  await row.getByRole('button', { name: 'Allow fallback' }).click();
  await row.getByText('may fall back').waitFor();
  assert.equal(await isStrict(other), false);
  await page.goto(`${url}/ui#/settings`);
  await page.getByRole('button', { name: 'Make my key strict' }).click();
  await page.getByText('Requests of your key are strict').waitFor();
  assert.equal(await isStrict(actor), true);
  await page.getByRole('button', { name: 'Allow fallback' }).click();
  await until('the change', async () => !await isStrict(actor));
  await close();
});

test('a key without scope admin is not offered to change its policy, and cannot', async () => {
  const { page, close } = await openPage({ expected: /40[13]/ });
  const own = await key('use');
  const { actor } = await request('GET', '/api/v1/session', undefined, { key: own });
  await signIn(page, { withKey: own, at: 'settings' });
  await page.getByText('An operator decides for each key').waitFor();
  assert.equal(await page.getByRole('button', { name: /strict|fallback/ }).count(), 0);
  const status = await page.evaluate((name) => fetch(`/api/v1/keys/${name}`, {
    method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"strictNoFallback":true}',
  }).then((one) => one.status), actor);
  assert.equal(status, 403);
  await close();
});
