import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destroy, key, openPage, request, sandbox, signIn, url } from './setup.mjs';

test('a key with scope read is offered nothing that it cannot do', async () => {
  const { id } = await sandbox({ name: `looked-${process.pid}` });
  const { page, close } = await openPage({ expected: /40[13]/ });
  await signIn(page, { withKey: await key('read'), at: 'sandboxes' });
  await page.getByRole('link', { name: `looked-${process.pid}` }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Create a sandbox' }).count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Keys' }).count(), 0);
  await page.goto(`${url}/ui#/sandboxes/${id}/terminal`);
  await page.getByText('Timeline').waitFor();
  for (const name of ['Destroy', 'Pause', 'Share']) assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  await page.goto(`${url}/ui#/keys`);
  await page.getByText('needs a key with scope admin').waitFor();
  await page.goto(`${url}/ui#/sandboxes/${id}/files`);
  await page.getByText('Nothing here').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Upload' }).count(), 0);
  const status = await page.evaluate((target) => fetch(`/api/v1/sandboxes/${target}`, { method: 'DELETE' }).then((one) => one.status), id);
  assert.equal(status, 403);
  await close();
});

/** Creates a share link in the dialog. */
async function share(id, scope) {
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page, { at: `sandboxes/${id}` });
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByLabel('The link allows').selectOption(scope);
  await page.getByRole('button', { name: 'Create a link' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  await close();
  return link;
}

for (const scope of ['read', 'use']) {
  test(`a share link reaches one sandbox only: ${scope}`, async () => {
    const { id } = await sandbox({ name: `shared-${scope}-${process.pid}` });
    const other = await sandbox();
    const link = await share(id, scope);
    const { page, close } = await openPage({ expected: /40[13]/ });
    await page.goto(link);
    await page.getByRole('heading', { name: `shared-${scope}` }).waitFor();
    assert.ok(!page.url().includes('ist_'), 'the token stays in the address');
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByText('Nothing here').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Destroy' }).count(), scope === 'use' ? 1 : 0);
    assert.equal(await page.getByRole('link', { name: 'Terminals' }).count(), scope === 'use' ? 1 : 0);
    const statuses = await page.evaluate(async ([own, foreign]) => Promise.all([
      fetch(`/api/v1/sandboxes/${own}`), fetch(`/api/v1/sandboxes/${foreign}`), fetch('/api/v1/sandboxes'), fetch('/api/v1/keys'),
      fetch(`/api/v1/sandboxes/${own}/files/folder`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"path":"/tmp/x"}' }),
    ].map((one) => one.then((response) => response.status))), [id, other.id]);
    assert.equal(statuses[0], 200);
    assert.deepEqual(statuses.slice(1, 4), [403, 403, 403]);
    assert.equal(statuses[4] < 300, scope === 'use');
    await close();
  });
}

test('a share link of a sandbox that is gone says so', async () => {
  const { id } = await sandbox();
  const link = await share(id, 'read');
  await destroy(id);
  const { page, close } = await openPage({ expected: /40[0-9]|410/ });
  await page.goto(link);
  await page.getByText('destroyed by a client').first().waitFor();
  await close();
});

test('a revoked key ends its sessions', async () => {
  const secret = await key('use');
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page, { withKey: secret });
  const me = await request('GET', '/api/v1/session', undefined, { key: secret });
  await request('DELETE', `/api/v1/keys/${me.actor}`);
  await page.goto(`${url}/ui#/volumes`);
  await page.getByText('Your session has ended').waitFor();
  await close();
});
