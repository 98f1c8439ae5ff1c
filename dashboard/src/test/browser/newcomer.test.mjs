import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destroy, openPage, request, screen, signIn, until, url } from './setup.mjs';

test('a newcomer creates a sandbox, writes a web page, previews it, snapshots, forks and destroys', async () => {
  const { page, close } = await openPage({ expected: /401/ });
  const made = new Set();
  try {
    await signIn(page);
    await page.getByRole('link', { name: 'Sandboxes', exact: false }).first().click();
    await page.getByRole('link', { name: 'Create a sandbox' }).first().click();
    await page.getByLabel('Name').fill('newcomer');
    await page.getByRole('dialog').locator('section').getByText('bubblewrap').first().waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();

    await page.waitForURL(/terminal/);
    const id = page.url().match(/sandboxes\/([a-z0-9]+)/)[1];
    made.add(id);
    await until('a prompt', async () => /[#$] *$/.test((await screen(page)).trimEnd()));
    await page.keyboard.type("echo '<h1>It works</h1>' > index.html; python3 -m http.server 8000 --bind 127.0.0.1 &\n");
    await until('the web server', async () => (await request('GET', `/api/v1/sandboxes/${id}/ports/8000`)).listening);

    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('button', { name: 'index.html' }).click();
    await page.getByLabel('Content of index.html').fill('<h1>It works well</h1>\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('index.html is saved').waitFor();

    await page.getByRole('link', { name: 'Ports' }).click();
    await page.getByLabel('Port').fill('8000');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.frameLocator('iframe').getByRole('heading', { name: 'It works well' }).waitFor();

    await page.getByRole('link', { name: 'Snapshots' }).click();
    await page.getByRole('button', { name: 'Take a snapshot' }).click();
    await page.getByText('The snapshot is stored').waitFor();

    await page.getByRole('button', { name: 'Fork' }).first().click();
    await page.waitForURL((address) => !address.href.includes(id));
    const fork = page.url().match(/sandboxes\/([a-z0-9]+)/)[1];
    made.add(fork);
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('button', { name: 'index.html' }).waitFor();

    await page.getByRole('button', { name: 'Destroy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Destroy' }).click();
    await page.waitForURL(/sandboxes$/);
    await page.getByRole('link', { name: 'newcomer' }).waitFor();
    const left = await request('GET', '/api/v1/sandboxes');
    assert.ok(!left.sandboxes.some((one) => one.id === fork));
  } finally {
    for (const id of made) await destroy(id);
  }
  await close();
});
