import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminKey, openPage, signIn, url } from './setup.mjs';

test('a wrong key is refused, with what to do', async () => {
  const { page, close } = await openPage({ expected: /401/ });
  await page.goto(`${url}/ui`);
  await page.getByLabel('API key').fill('isk_00000000000000000000000000000000');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /invalid/);
  await close();
});

test('the key is exchanged for a cookie that no script can read', async () => {
  const { page, context, close } = await openPage({ expected: /401/ });
  await signIn(page);
  const cookies = (await context.cookies()).filter((one) => one.name.includes('isola_session'));
  assert.equal(cookies.length, 1);
  assert.equal(cookies[0].httpOnly, true);
  assert.equal(cookies[0].sameSite, 'Strict');
  assert.ok(!cookies[0].value.includes(adminKey));
  const readable = await page.evaluate(() => JSON.stringify([
    document.cookie, { ...localStorage }, { ...sessionStorage }, location.href, document.documentElement.outerHTML]));
  assert.ok(!readable.includes(adminKey));
  assert.ok(!readable.includes(cookies[0].value));
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await close();
});

test('signing out ends the session on the server', async () => {
  const { page, context, close } = await openPage({ expected: /401/ });
  await signIn(page);
  const [cookie] = (await context.cookies()).filter((one) => one.name.includes('isola_session'));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  const stolen = await fetch(`${url}/api/v1/session`, {
    headers: { Cookie: `${cookie.name}=${cookie.value}`, 'Sec-Fetch-Site': 'same-origin' },
  });
  assert.equal(stolen.status, 401);
  await close();
});

test('a session that has ended leads to the sign-in page and says so', async () => {
  const { page, context, close } = await openPage({ expected: /401/ });
  await signIn(page);
  await context.clearCookies();
  await page.goto(`${url}/ui#/volumes`);
  await page.getByText('Your session has ended').waitFor();
  await close();
});

test('the first page needs less than 400 KB and comes from one origin', async () => {
  const { page, close } = await openPage({ expected: /401/ });
  let total = 0;
  page.on('requestfinished', async (one) => {
    const sizes = await one.sizes();
    total += sizes.responseBodySize + sizes.responseHeadersSize;
  });
  await signIn(page);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.waitForTimeout(500);
  assert.ok(total > 10_000, `only ${total} bytes were counted`);
  assert.ok(total < 400_000, `${total} bytes`);
  await close();
});
