// Measures the dashboard with many sandboxes and events: how long an interaction takes, and whether
// the memory of the page grows. Not part of ./check; testing/dashboard-load-here.sh runs it.
//   ISOLA_URL, ISOLA_API_KEY   a server
//   SANDBOXES (1000), EVENTS (50 in a second), MINUTES (10)
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const url = process.env.ISOLA_URL;
const headers = { Authorization: `Bearer ${process.env.ISOLA_API_KEY}`, 'Content-Type': 'application/json' };
const SANDBOXES = Number(process.env.SANDBOXES ?? 1000);
const EVENTS = Number(process.env.EVENTS ?? 50);
const MINUTES = Number(process.env.MINUTES ?? 10);
const LIMIT_MS = 100;

async function api(method, path, body) {
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? null : response.json();
}

async function inParallel(count, width, work) {
  let next = 0;
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < count) {
      const mine = next;
      next += 1;
      await work(mine);
    }
  }));
}

const ids = [];
const begun = Date.now();
await inParallel(SANDBOXES, 8, async (n) => {
  const made = await api('POST', '/api/v1/sandboxes', { name: `load-${n}`, tags: { team: n % 10 ? 'red' : 'blue' }, ttlSeconds: 3600 });
  ids.push(made.id);
});
console.log(`${SANDBOXES} sandboxes in ${((Date.now() - begun) / 1000).toFixed(0)} s`);

let running = true;
let sent = 0;
let failed = null;
/** Each pause and each resume is one event. */
const traffic = (async () => {
  const start = Date.now();
  const worker = async (offset) => {
    for (let n = offset; running; n += 16) {
      const id = ids[n % ids.length];
      for (const verb of ['pause', 'resume']) {
        await api('POST', `/api/v1/sandboxes/${id}/${verb}`).then(() => { sent += 1; }, (error) => { failed = error; });
        const ahead = sent / EVENTS - (Date.now() - start) / 1000;
        if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead * 1000));
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, n) => worker(n)));
})();

const browser = await chromium.launch({ executablePath: process.env.ISOLA_TEST_CHROMIUM ?? 'chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const page = await context.newPage();
await page.goto(`${url}/ui#/sandboxes`);
await page.getByLabel('API key').fill(process.env.ISOLA_API_KEY);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.getByText(new RegExp(`of ${SANDBOXES}$`)).waitFor({ timeout: 60_000 });
const devtools = await context.newCDPSession(page);
await devtools.send('HeapProfiler.enable');

/** The time from an action until the frame after the page shows its result, in the page's own clock. */
async function measure(action, value) {
  const handle = await page.evaluateHandle(`(${action})`); // not by eval in the page, which its policy forbids
  return page.evaluate(async ([act, argument]) => {
    const frame = () => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
    const start = performance.now();
    const done = act(argument);
    for (let n = 0; n < 600 && !done(); n += 1) await frame();
    await frame();
    return performance.now() - start;
  }, [handle, value]);
}

const ACTIONS = {
  filter: [(text) => {
    const input = document.querySelector('input[type=search]');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, text);
    input.dispatchEvent(new Event('input', { bubbles: true }));
    const shown = () => document.querySelector('.toolbar [role=status]').textContent.split(' of ');
    return () => (text ? Number(shown()[0]) < 20 : shown()[0] === shown()[1]);
  }, ['load-77', '']],
  'open a page': [(name) => {
    location.hash = `/${name}`;
    return () => document.querySelector('main h1')?.textContent.toLowerCase().startsWith(name);
  }, ['overview', 'events', 'sandboxes']],
  'open a sandbox': [(id) => {
    location.hash = id ? `/sandboxes/${id}` : '/sandboxes';
    return () => (id ? document.querySelector('main h1')?.textContent.startsWith('load-') : document.querySelector('input[type=search]'));
  }, [ids[0], '']],
  'find in the palette': [(text) => {
    if (text) dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
    const input = () => document.querySelector('input.palette');
    let typed = false;
    return () => {
      if (!text) {
        if (!typed) dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
        typed = true;
        return !input();
      }
      if (!typed && input()) {
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input(), text);
        input().dispatchEvent(new Event('input', { bubbles: true }));
        typed = true;
      }
      return typed && document.querySelector('#palette-list')?.children.length === 1;
    };
  }, ['load-777', '']],
};

const times = Object.fromEntries(Object.keys(ACTIONS).map((name) => [name, []]));
const heaps = [];
const counted = sent;
const from = Date.now();
for (let minute = 1; minute <= MINUTES; minute += 1) {
  while (Date.now() - from < minute * 60_000) {
    for (const [name, [action, values]] of Object.entries(ACTIONS)) {
      for (const value of values) {
        times[name].push(await measure(action, value));
      }
    }
    await page.waitForTimeout(1000);
  }
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  heaps.push(usedSize);
  console.log(`minute ${minute}: heap ${(usedSize / 1e6).toFixed(1)} MB, ${((sent - counted) / ((Date.now() - from) / 1000)).toFixed(0)} events in a second`);
}
for (const [name, list] of Object.entries(times)) {
  list.sort((a, b) => a - b);
  const at = (part) => list[Math.min(list.length - 1, Math.floor(list.length * part))].toFixed(0);
  console.log(`${name}: ${list.length} times, median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`);
}
running = false;
await traffic;
await browser.close();
if (failed) console.log(`some requests of the traffic failed, and are not counted: ${failed.message}`);
await inParallel(ids.length, 8, (n) => api('DELETE', `/api/v1/sandboxes/${ids[n]}?force=true`));

for (const [name, list] of Object.entries(times)) {
  assert.ok(list[Math.floor(list.length * 0.95)] < LIMIT_MS, `${name} takes longer than ${LIMIT_MS} ms`);
}
if (heaps.length >= 4) {
  const half = Math.floor(heaps.length / 2);
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  assert.ok(mean(heaps.slice(half)) < mean(heaps.slice(1, half)) * 1.1, 'the memory of the page grows');
}
