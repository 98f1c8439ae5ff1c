// What the tests of the dashboard share: a browser, people with keys of different scopes, requests
// to the API beside the page.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { chromium } from 'playwright-core';

export const url = process.env.ISOLA_URL;
export const adminKey = process.env.ISOLA_API_KEY;
export const screenshots = process.env.ISOLA_TEST_SCREENSHOTS;

const EXECUTABLE = process.env.ISOLA_TEST_CHROMIUM ?? 'chromium';

let started;
const browser = () => {
  started ??= chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  return started;
};
after(async () => (await started)?.close());

/** Sends a request with a key, as any client does. */
export async function request(method, path, body, { key = adminKey, base = url } = {}) {
  const response = await fetch(base + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

const cleanups = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** Creates a sandbox that is destroyed after the tests of the file. */
export async function sandbox(spec = {}) {
  const made = await request('POST', '/api/v1/sandboxes', { ttlSeconds: 600, ...spec });
  cleanups.push(() => destroy(made.id));
  return made;
}

export async function destroy(id) {
  await fetch(`${url}/api/v1/sandboxes/${id}?force=true`, { method: 'DELETE', headers: { Authorization: `Bearer ${adminKey}` } });
}

/** Destroys everything that a test created with this tag. */
export async function destroyTagged(tag) {
  const { sandboxes } = await request('GET', `/api/v1/sandboxes?tag=${encodeURIComponent(tag)}`);
  await Promise.all(sandboxes.map((one) => destroy(one.id)));
}

export async function key(scope) {
  const name = `browser-${scope}-${process.pid}-${Date.now()}`;
  const made = await request('POST', '/api/v1/keys', { name, scope });
  cleanups.push(() => request('DELETE', `/api/v1/keys/${name}`).catch(() => {}));
  return made.key;
}

export const exec = (id, command) => request('POST', `/api/v1/sandboxes/${id}/exec`, { command, timeoutMs: 30_000 });

/**
 * Opens a page. Errors of scripts, violations of the content security policy and requests to
 * another origin fail the test at the end, unless `expected` matches them.
 */
export async function openPage({ expected = /^$/, base = url, ...options } = {}) {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('request', (one) => {
    const target = new URL(one.url());
    const own = new URL(base);
    const preview = target.hostname.endsWith('.localhost');
    // The viewer of PDF files is an extension of Chromium.
    if (/^(http|ws)s?:$/.test(target.protocol) && target.host !== own.host && !preview) problems.push(`request to ${target.host}`);
  });
  page.setDefaultTimeout(15_000);
  return {
    page,
    context,
    async close() {
      await context.close();
      assert.deepEqual(problems.filter((one) => !expected.test(one)), []);
    },
  };
}

/** Signs in as a person does. */
export async function signIn(page, { withKey = adminKey, at = '', base = url } = {}) {
  await page.goto(`${base}/ui${at ? `#/${at}` : ''}`);
  await page.getByLabel('API key').fill(withKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).first().waitFor();
}

/** The text on a terminal. */
export const screen = (page) => page.evaluate(() => {
  const box = [...document.querySelectorAll('.xterm-box')].find((one) => one.offsetParent);
  if (!box?.terminal) return '';
  const { active } = box.terminal.buffer;
  const lines = [];
  for (let at = 0; at < active.length; at += 1) lines.push(active.getLine(at)?.translateToString(true) ?? '');
  return lines.join('\n');
});

export async function until(what, probe, timeoutMs = 15_000) {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
