// Sign-in with a real OpenID Connect provider, which is another site to the browser, and the set-up of an installation.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import Provider from 'oidc-provider';
import { freePort, installation } from './server.mjs';
import { openPage, request, signIn } from './setup.mjs';

const SECRET = 'hunter2 & more';
const GROUPS = { anna: ['guests', 'staff'], eve: ['guests'] };

const port = await freePort();
const provider = createServer();
await new Promise((resolve) => { provider.listen(0, '127.0.0.1', resolve); });
after(() => { provider.closeAllConnections(); provider.close(); });
const issuer = `http://127.0.0.1:${provider.address().port}`;
provider.on('request', new Provider(issuer, {
  clients: [{ client_id: 'isola', client_secret: SECRET, redirect_uris: [`http://localhost:${port}/api/v1/session/oidc/callback`] }],
  claims: { openid: ['sub'], groups: ['groups'] },
  conformIdTokenClaims: false,
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id, groups: GROUPS[id] }) }),
}).callback());
const { start } = installation({
  ISOLA_OIDC_ISSUER: issuer, ISOLA_OIDC_CLIENT_ID: 'isola', ISOLA_OIDC_CLIENT_SECRET: SECRET,
  ISOLA_OIDC_SCOPES: 'openid,groups', ISOLA_OIDC_CLAIM: 'groups', ISOLA_OIDC_KEYS: 'staff=team',
});
const base = await start(port);
await request('POST', '/api/v1/keys', { name: 'team', scope: 'use' }, { base });

/** Signs in at the provider, from the sign-in page of the dashboard. */
async function signInThere(page, login) {
  await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
  await page.waitForURL(`${issuer}/**`);
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** The pages of the provider are not ours; their font is not loaded. */
async function openHere() {
  const opened = await openPage({ base, expected: /401|request to (127\.0\.0\.1:\d+|fonts\.googleapis\.com)$| http:\/\/127\.0\.0\.1:\d+\// });
  await opened.context.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css', body: '' }));
  return opened;
}

test('a person signs in with the identity provider, and returns to the page with the rights of the key', async () => {
  const { page, context, close } = await openHere();
  await page.goto(`${base}/ui#/volumes`);
  await signInThere(page, 'anna');
  await page.getByRole('heading', { name: 'Volumes', exact: true }).waitFor();
  assert.equal(page.url(), `${base}/ui#/volumes`);
  assert.match(await page.locator('.who').innerText(), /team\s+use/);
  assert.equal(await page.getByRole('link', { name: 'Keys' }).count(), 0);
  const cookies = (await context.cookies(base)).filter((one) => one.name.includes('isola_session'));
  assert.deepEqual(cookies.map((one) => [one.httpOnly, one.sameSite]), [[true, 'Strict']], 'that of the sign-in is gone');
  await page.reload();
  await page.getByRole('heading', { name: 'Volumes', exact: true }).waitFor();
  await request('DELETE', '/api/v1/keys/team', undefined, { base });
  await page.goto(`${base}/ui#/images`);
  await page.getByText('Your session has ended').waitFor();
  await request('POST', '/api/v1/keys', { name: 'team', scope: 'use' }, { base });
  const { entries } = await request('GET', '/api/v1/audit', undefined, { base });
  assert.ok(entries.some((one) => one.action === 'completeOidcSignIn' && one.key === 'team' && one.outcome === 'ok'));
  await close();
});

test('a person without access is told so, and may use a key', async () => {
  const { page, close } = await openHere();
  await page.goto(`${base}/ui`);
  await signInThere(page, 'eve');
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /no access here[^]*oidc\.keys/);
  assert.equal(page.url(), `${base}/ui`);
  await signIn(page, { base });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await close();
});

test('the set-up says what a provider lacks, checks again, and shows a sandbox that works', async () => {
  const { page, close } = await openPage({ base, expected: /401/ });
  await signIn(page, { at: 'providers', base });
  await page.getByRole('button', { name: 'Set up step by step' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set up this machine' });
  await dialog.getByRole('button', { name: /E2B/ }).click();
  const { providers } = await request('GET', '/api/v1/providers', undefined, { base });
  const e2b = providers.find((one) => one.name === 'e2b');
  assert.equal(e2b.status, 'unhealthy');
  await dialog.getByRole('heading', { name: 'What e2b needs' }).waitFor();
  assert.ok((await dialog.innerText()).includes(e2b.fix), e2b.fix);
  assert.ok(await dialog.getByRole('button', { name: 'Try it' }).isDisabled());
  const answer = page.waitForResponse((one) => one.url().endsWith('/api/v1/providers/check'));
  await dialog.getByRole('button', { name: 'Check again' }).click();
  const checked = (await (await answer).json()).providers.find((one) => one.name === 'e2b');
  assert.ok(Date.parse(checked.lastCheck) > Date.parse(e2b.lastCheck), 'the provider was probed again');
  await dialog.getByRole('button', { name: 'Back' }).click();
  await dialog.getByRole('button', { name: /Containers/ }).click();
  await dialog.getByRole('button', { name: /^bubblewrap/ }).click();
  await dialog.getByRole('heading', { name: 'bubblewrap works' }).waitFor();
  await dialog.getByRole('button', { name: 'Try it' }).click();
  await dialog.getByText('A sandbox of bubblewrap was created').waitFor();
  assert.match(await dialog.locator('pre').innerText(), /It works\.\nLinux/);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await close();
});
