import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destroyTagged, exec, openPage, request, sandbox, screen, signIn, until } from './setup.mjs';

const EXPECTED = /401/;

test('terminals: typing, paste, resize, several, and back after a reload', async () => {
  const { id } = await sandbox();
  const { page, context, close } = await openPage({ expected: EXPECTED });
  await signIn(page, { at: `sandboxes/${id}/terminal` });
  await until('a prompt', async () => /[#$] *$/.test((await screen(page)).trimEnd()));
  await page.keyboard.type('echo typed-$((6*7))\n');
  await until('the output', async () => (await screen(page)).includes('typed-42'));

  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => navigator.clipboard.writeText('echo pasted-ü-$((1+1))'));
  await page.keyboard.press('Control+Shift+V');
  await page.keyboard.press('Enter');
  await until('the paste', async () => (await screen(page)).includes('pasted-ü-2'));

  await page.setViewportSize({ width: 900, height: 600 });
  await page.waitForTimeout(500);
  await page.keyboard.type('stty size\n');
  const columns = await page.evaluate(() => document.querySelector('.xterm-box').terminal.cols);
  await until('the size', async () => (await screen(page)).includes(` ${columns}`));

  await page.getByRole('button', { name: 'New terminal' }).click();
  await page.getByRole('button', { name: 'Terminal 2', exact: true }).waitFor();
  await until('a second prompt', async () => /[#$] *$/.test((await screen(page)).trimEnd()));
  await page.getByRole('button', { name: 'Terminal 1', exact: true }).click();
  assert.ok((await screen(page)).includes('typed-42'));

  await page.reload();
  await page.getByRole('button', { name: 'Terminal 1', exact: true }).click();
  await until('the old output', async () => (await screen(page)).includes('typed-42'));
  await close();
});

test('commands: live output, replay from the journal, terminate', async () => {
  const { id } = await sandbox();
  const { page, close } = await openPage({ expected: EXPECTED });
  await signIn(page, { at: `sandboxes/${id}/commands` });
  await page.getByLabel('Command').fill('echo begin; sleep 300');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('log').getByText('begin').waitFor();
  await page.getByRole('button', { name: 'Terminate' }).click();
  await page.getByText(/exit 143|signaled/).first().waitFor();
  await page.getByRole('button', { name: 'Replay from the journal' }).click();
  await page.getByRole('log').getByText('begin').waitFor();
  await close();
});

test('pause, resume, extend, snapshot, fork, destroy', async () => {
  const { id } = await sandbox({ tags: { test: `life-${process.pid}` } });
  const { page, close } = await openPage({ expected: EXPECTED });
  await signIn(page, { at: `sandboxes/${id}` });
  const heading = page.getByRole('heading', { level: 1 });
  await page.getByRole('button', { name: 'Pause' }).click();
  await heading.getByText('paused').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await heading.getByText('running').waitFor();
  await page.getByRole('button', { name: 'Extend' }).click();
  await page.getByText('It expires in an hour').waitFor();
  const view = await request('GET', `/api/v1/sandboxes/${id}`);
  assert.ok(Date.parse(view.expiresAt) - Date.now() > 3500_000);
  await page.getByRole('button', { name: 'Snapshot', exact: true }).click();
  await page.getByText('The snapshot is stored').waitFor();
  await exec(id, 'echo new > added.txt');
  await page.getByRole('link', { name: 'Files' }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByLabel('Snapshot', { exact: true }).selectOption({ index: 1 });
  await page.getByRole('dialog').getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('dialog').locator('.added').getByText('added.txt').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Snapshots' }).click();
  await page.getByLabel('How many').fill('2');
  await page.getByRole('button', { name: 'Fork' }).last().click();
  await page.getByText('2 forks are running').waitFor();
  await page.locator('.tree .tree a').nth(1).waitFor();
  await page.getByRole('button', { name: 'Destroy' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await request('GET', `/api/v1/sandboxes/${id}`);
  await page.getByRole('button', { name: 'Destroy' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Destroy' }).click();
  await page.waitForURL(/sandboxes$/);
  await destroyTagged(`test=life-${process.pid}`);
  await close();
});

test('egress: what was denied can be allowed', async () => {
  const { id } = await sandbox({ network: { mode: 'filtered', allowDomains: ['allowed.example'] } });
  const { page, close } = await openPage({ expected: EXPECTED });
  await signIn(page, { at: `sandboxes/${id}/egress` });
  await page.getByText('Nothing was denied').waitFor();
  await exec(id, 'python3 -c "import urllib.request as u; u.urlopen(\'http://wanted.example\', timeout=5)" 2>&1; true');
  await page.getByText('wanted.example').first().waitFor();
  await page.getByRole('button', { name: 'Allow this host' }).first().click();
  await page.getByText('wanted.example is allowed').waitFor();
  const report = await request('GET', `/api/v1/sandboxes/${id}/egress`);
  assert.ok(report.rules.some((one) => one.allow === 'wanted.example'));
  await close();
});

test('many: filter, select, destroy', async () => {
  const tag = `many-${process.pid}`;
  await Promise.all([1, 2, 3].map((n) => request('POST', '/api/v1/sandboxes', { name: `${tag}-${n}`, tags: { test: tag }, ttlSeconds: 600 })));
  const { page, close } = await openPage({ expected: EXPECTED });
  await signIn(page, { at: 'sandboxes' });
  await page.getByLabel('Filter').fill(`test=${tag}`);
  await page.getByText(/^3 of /).waitFor();
  await page.getByLabel('Select all').check();
  await page.getByRole('button', { name: 'Destroy' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Destroy' }).click();
  await page.getByText(/^0 of /).waitFor();
  const { sandboxes } = await request('GET', `/api/v1/sandboxes?tag=test%3D${tag}`);
  assert.equal(sandboxes.length, 0);
  await close();
});

test('the create dialog says why, as one types', async () => {
  const { page, close } = await openPage({ expected: EXPECTED });
  await signIn(page, { at: 'sandboxes?create=1' });
  const why = page.getByRole('dialog').locator('section');
  await why.getByText('bubblewrap').first().waitFor();
  await page.getByLabel('Isolation, at least').selectOption('vm');
  await why.getByRole('alert').waitFor();
  await page.getByLabel('Isolation, at least').selectOption('');
  await why.getByRole('alert').waitFor({ state: 'detached' });
  await close();
});

test('the create dialog has every field of the server', async () => {
  const { page, close } = await openPage({ expected: /401|status of 400/ }); // invalid values are tried
  await signIn(page, { at: 'sandboxes?create=1' });
  const why = page.getByRole('dialog').locator('section');
  await page.getByText('Other fields').click();
  await page.getByLabel('require.limits').fill('nosuchlimit');
  await why.getByText('must be one of').waitFor();
  await page.getByLabel('require.limits').fill('');
  await page.getByLabel('gpus').fill('65');
  await why.getByText('must be 0 to 64').waitFor();
  await page.getByLabel('gpus').fill('');
  await page.getByLabel('whenIdle').selectOption('stop');
  await why.getByRole('alert').waitFor({ state: 'detached' });
  await close();
});

test('playground: code, output and pictures', async () => {
  const { page, close } = await openPage({ expected: EXPECTED });
  await signIn(page, { at: 'playground' });
  await page.getByLabel('Code').fill(
    "import base64\nprint('sum', 19 + 23)\nopen('dot.png', 'wb').write(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='))\n");
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText('sum 42').waitFor();
  await page.getByAltText('dot.png').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await until('the end of its sandbox', async () => (await request('GET', '/api/v1/sandboxes?tag=for%3Dplayground')).sandboxes.length === 0);
  await close();
});
