import assert from 'node:assert/strict';
import { readFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { before, test } from 'node:test';
import { exec, openPage, request, sandbox, screenshots, signIn } from './setup.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const VIEWS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  // Of interest for pictures only: its colours and its width are those of the two before.
  ...(screenshots && { 'phone-dark': { colorScheme: 'dark', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } }),
};

/** Other tests use the same server; on pictures plain names look better. */
const suffix = screenshots ? '' : `-${process.pid}`;

let id;
before(async () => {
  const web = await sandbox({ name: `shop${suffix}`, tags: { team: 'red', purpose: 'shown' }, network: { mode: 'filtered', allowDomains: ['pypi.org'] } });
  id = web.id;
  await exec(id, "printf '# Shop\\n\\nA page.\\n' > README.md; mkdir -p src; printf 'print(6 * 7)\\n' > src/main.py");
  await exec(id, 'python3 -c "import urllib.request as u; u.urlopen(\'http://denied.example\', timeout=3)" 2>/dev/null; true');
  const started = await request('POST', `/api/v1/sandboxes/${id}/executions`, { command: 'for i in 1 2 3; do echo line $i; done; echo done >&2' });
  PAGES.commands = { at: `sandboxes/${id}/commands/${started.id}`, ready: 'line 3' };
  await request('POST', `/api/v1/sandboxes/${id}/snapshots`, {});
  await request('POST', '/api/v1/volumes', { name: `cache${suffix}` });
  await request('PUT', `/api/v1/secrets/model-key${suffix}`, { value: 'never shown again', hosts: ['api.example.org'] });
  await sandbox({ name: `api${suffix}`, tags: { team: 'blue' } });
  const paused = await sandbox({ name: `night${suffix}` });
  await request('POST', `/api/v1/sandboxes/${paused.id}/pause`);
  await request('POST', `/api/v1/sandboxes/${id}/fork`, { count: 1 }).then(({ forks }) => forks.map((one) => leftovers.push(one.sandbox.id)));
  Object.assign(PAGES, {
    sandbox: { at: `sandboxes/${id}`, ready: 'Timeline' },
    terminal: { at: `sandboxes/${id}/terminal`, ready: 'attached' },
    files: { at: `sandboxes/${id}/files`, ready: 'README.md' },
    ports: { at: `sandboxes/${id}/ports`, ready: 'Any port' },
    egress: { at: `sandboxes/${id}/egress`, ready: 'pypi.org' },
    snapshots: { at: `sandboxes/${id}/snapshots`, ready: 'Forks' },
    'sandbox-events': { at: `sandboxes/${id}/events`, ready: 'spawn' },
    audit: { at: `sandboxes/${id}/audit`, ready: 'Who did what' },
  });
});
const leftovers = [];
test.after(async () => {
  for (const one of leftovers) await request('DELETE', `/api/v1/sandboxes/${one}?force=true`).catch(() => {});
  await request('DELETE', `/api/v1/volumes/cache${suffix}`);
  await request('DELETE', `/api/v1/secrets/model-key${suffix}`);
});

const PAGES = {
  overview: { at: 'overview', ready: 'bubblewrap' },
  sandboxes: { at: 'sandboxes', ready: 'shop' },
  create: { at: 'sandboxes?create=1', ready: 'Which provider, and why', settle: 'bubblewrap' },
  playground: { at: 'playground', ready: 'Result' },
  events: { at: 'events', ready: 'spawn' },
  images: { at: 'images', ready: 'Templates' },
  volumes: { at: 'volumes', ready: 'All volumes' },
  secrets: { at: 'secrets', ready: 'placeholder' },
  providers: { at: 'providers', ready: 'Set up step by step' },
  keys: { at: 'keys', ready: 'environment' },
  policy: { at: 'policy', ready: 'Quotas and limits' },
  settings: { at: 'settings', ready: 'Strict mode' },
};

async function serious(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter((one) => ['serious', 'critical'].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' ')}`);
}

for (const [view, options] of Object.entries(VIEWS)) {
  test(`every page is accessible and complete: ${view}`, async () => {
    const { page, close } = await openPage({ expected: /401/, ...options });
    const found = [];
    await signIn(page);
    for (const [name, { at, ready, settle }] of Object.entries(PAGES)) {
      await page.goto(`${page.url().split('#')[0]}#/${at}`);
      await page.getByText(ready).first().waitFor({ state: 'attached' }).catch((error) => found.push(`${name}: ${error.message.split('\n')[0]}`));
      if (settle) await page.getByRole('dialog').locator('section').getByText(settle).first().waitFor();
      await page.waitForTimeout(250);
      const width = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      if (width[0] > width[1]) found.push(`${name}: the page is ${width[0]} wide in a window of ${width[1]}`);
      found.push(...(await serious(page)).map((one) => `${name}: ${one}`));
      if (screenshots) {
        mkdirSync(screenshots, { recursive: true });
        await page.screenshot({ path: `${screenshots}/${name}-${view}.jpg`, type: 'jpeg', quality: 72 });
      }
    }
    assert.deepEqual(found, []);
    await close();
  });
}

test('axe finds a planted fault', async () => {
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page);
  await page.evaluate(() => document.querySelector('main').append(document.createElement('button')));
  assert.match((await serious(page)).join(), /button-name/);
  await close();
});

test('keyboard: palette, shortcuts, dialogs', async () => {
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page);
  await page.keyboard.press('Control+k');
  await page.getByLabel('Page or sandbox').waitFor();
  await page.keyboard.type(`shop${suffix}`);
  await page.getByRole('option', { name: `shop${suffix}` }).first().waitFor(); // the list may still be loading
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(id));
  await page.locator('main').focus();
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.waitForURL(/#\/sandboxes$/);
  await page.getByLabel('Filter').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('team=blue');
  await page.getByText(/^1 of /).waitFor();
  await page.goto(`${page.url().split('#')[0]}#/sandboxes?create=1`);
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await close();
});
