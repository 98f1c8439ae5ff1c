import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exec, openPage, request, sandbox, screen, signIn, until, url } from './setup.mjs';

const ATTACK = '<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script>';
const owned = (page) => page.evaluate(() => globalThis.owned);

/** A page with the attack planted is noticed: the test can fail. */
test('the attack runs in a page that does not escape', async () => {
  const { page, context } = await openPage();
  await page.setContent(`<body>${ATTACK}</body>`);
  await until('the attack', () => owned(page));
  await context.close();
});

test('names, tags, output and files of a sandbox are text', async () => {
  const { id } = await sandbox({ tags: { [ATTACK.slice(0, 60)]: ATTACK, 'javascript:alert(1)': 'javascript:alert(1)' }, env: { EVIL: ATTACK } });
  await exec(id, [
    "mkdir -p 'a\"><img src=x onerror=globalThis.owned=1>'",
    "touch '<img src=x onerror=globalThis.owned=1>.txt' \"$(printf 'line\\nbreak')\" \"$(printf '\\033[31mred')\"",
    "printf '%s' '<script>globalThis.owned=1</script>' > evil.html",
    "printf '%s' '<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"globalThis.owned=1\"><script>globalThis.owned=1</script></svg>' > evil.svg",
    "printf '%s' '<script>globalThis.owned=1</script>' > evil.png",
    "printf '%s' '<script>globalThis.owned=1</script>' > evil.pdf",
    "ln -s 'javascript:globalThis.owned=1' link",
  ].join('; '));
  const { id: execution } = await request('POST', `/api/v1/sandboxes/${id}/executions`, {
    command: `printf '%s\\033]0;title\\007\\033[2J\\x00%s' '<img src=x onerror=globalThis.owned=1>' '<script>globalThis.owned=1</script>'`,
  });
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page, { at: `sandboxes/${id}` });
  await page.getByText(ATTACK.slice(0, 30)).first().waitFor();
  for (const at of ['sandboxes', 'overview', 'events', `sandboxes/${id}/events`, `sandboxes/${id}/commands/${execution}`]) {
    await page.goto(`${url}/ui#/${at}`);
    await page.waitForTimeout(600);
  }
  assert.match(await page.getByRole('log').innerText(), /<img src=x/);
  await page.goto(`${url}/ui#/sandboxes/${id}/files`);
  for (const name of ['evil.html', 'evil.svg']) {
    await page.getByRole('button', { name }).click();
    await page.getByLabel(`Content of ${name}`).waitFor();
    await page.keyboard.press('Escape');
  }
  for (const name of ['evil.png', 'evil.pdf']) {
    await page.getByRole('button', { name }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Download' }).waitFor();
    await page.waitForTimeout(400);
    // The viewer of the browser may have the focus, and with it the key Escape.
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  }
  await page.getByRole('button', { name: /onerror=globalThis\.owned=1>\.txt/ }).click();
  await page.keyboard.press('Escape');
  assert.equal(await owned(page), undefined);
  await close();
});

test('a file of a sandbox that is opened as a page runs nothing and reads nothing', async () => {
  const { id } = await sandbox();
  await exec(id, "printf '%s' '<!doctype html><script>document.title=\"owned\";fetch(\"/api/v1/keys\").then(r=>document.title=\"owned \"+r.status)</script>' > page.html");
  const { page, close } = await openPage({ expected: /./ });
  await signIn(page);
  const [download] = await Promise.all([
    page.waitForEvent('download', { timeout: 2000 }).catch(() => null),
    page.goto(`${url}/api/v1/sandboxes/${id}/files/content?path=page.html`).catch(() => null)]);
  await page.waitForTimeout(500);
  assert.ok(download || !(await page.title()).includes('owned'));
  await close();
});

test('a terminal full of control sequences stays a terminal', async () => {
  const { id } = await sandbox();
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page, { at: `sandboxes/${id}/terminal` });
  await until('a prompt', async () => /[#$] *$/.test((await screen(page)).trimEnd()));
  await page.keyboard.type("printf '\\033]8;;javascript:globalThis.owned=1\\033\\\\click\\033]8;;\\033\\\\ \\033]52;c;ZXZpbA==\\007 \\033[c \\033]0;<script>owned=1</script>\\007'; head -c 200000 /dev/urandom; reset; echo al''ive\n");
  await until('the end', async () => (await screen(page)).includes('alive'), 30_000);
  assert.equal(await owned(page), undefined);
  await close();
});

test('a preview has an origin of its own from which the API is out of reach', async () => {
  const { id } = await sandbox();
  const port = new URL(url).port;
  const script = `
    const results = {};
    const attempt = async (name, work) => { try { results[name] = await work(); } catch (e) { results[name] = 'refused'; } };
    (async () => {
      for (const host of ['localhost', '127.0.0.1']) {
        const api = 'http://' + host + ':${port}';
        await attempt(host + ' read', () => fetch(api + '/api/v1/sandboxes', {credentials: 'include'}).then((r) => r.status));
        await attempt(host + ' blind', () => fetch(api + '/api/v1/sandboxes/${id}?force=true', {method: 'DELETE', mode: 'no-cors', credentials: 'include'}).then((r) => r.type));
        await attempt(host + ' socket', () => new Promise((yes, no) => { const s = new WebSocket('ws://' + host + ':${port}/api/v1/sandboxes/${id}/executions/1/terminal', 'isola.terminal.v1'); s.onopen = () => yes('open'); s.onerror = () => no(); }));
      }
      await attempt('parent', async () => top.document.title);
      await attempt('cookie', async () => document.cookie.includes('isola_session') ? 'seen' : 'refused');
      document.body.dataset.results = JSON.stringify(results);
    })();`;
  await request('POST', `/api/v1/sandboxes/${id}/files/batch`, { operations: [
    { op: 'write', path: '/workspace/index.html', content: '<!doctype html><body>evil<script src="evil.js"></script>' },
    { op: 'write', path: '/workspace/evil.js', content: script }] });
  await request('POST', `/api/v1/sandboxes/${id}/executions`, { command: 'python3 -m http.server 8000 --bind 127.0.0.1' });
  await until('the web server', async () => (await request('GET', `/api/v1/sandboxes/${id}/ports/8000`)).listening);
  const { page, close } = await openPage({ expected: /./ });
  await signIn(page, { at: `sandboxes/${id}/ports` });
  await page.getByLabel('Port').fill('8000');
  await page.getByRole('button', { name: 'Preview' }).click();
  const body = page.frameLocator('iframe').locator('body[data-results]');
  await body.waitFor({ state: 'attached' });
  const results = JSON.parse(await body.getAttribute('data-results'));
  for (const [name, result] of Object.entries(results)) {
    assert.ok(result === 'refused' || result === 'opaque', `${name}: ${result}`);
  }
  await request('GET', `/api/v1/sandboxes/${id}`);
  await close();
});
