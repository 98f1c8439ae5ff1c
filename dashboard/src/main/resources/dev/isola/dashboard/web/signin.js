import { useState } from 'preact/hooks';
import { html, Problem, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

/** Why a sign-in with OpenID Connect failed. The server sends only the word. */
const PROBLEMS = {
  expired: { message: 'The sign-in took longer than ten minutes, or began in another browser.', remedy: 'Sign in again. Behind a proxy, open the dashboard at the address that oidc.public_url has.' },
  cancelled: { message: 'The identity provider did not sign you in.', remedy: 'Sign in again, or use an API key.' },
  'provider-unavailable': { message: 'The identity provider does not answer as it should.', remedy: 'Try again in a minute. The log of the server says what is wrong.' },
  'invalid-token': { message: 'The identity provider’s answer is not valid for this server.', remedy: 'Sign in again. If it fails again, the log of the server says why.' },
  'no-key': { message: 'You are signed in there, but have no access here.', remedy: 'Ask an operator to add you to oidc.keys. An e-mail address counts only if the identity provider has verified it.' },
  'too-many': { message: 'Too many sign-ins failed or are in progress.', remedy: 'Try again in a minute.' },
};

/** Where the person wanted to go; the server accepts only pages of the dashboard. */
const returnPath = () => (/^#\/[A-Za-z0-9/_.~?=&%-]{0,500}$/.test(location.hash) ? `/ui${location.hash}` : '/ui');

/** Offers the identity provider if the operator has configured one. */
function IdentityProvider() {
  const info = useLoad(() => api.get('/'), []);
  const host = info.data?.oidcProvider;
  return host && html`
    <a class="button primary" href=${api.query(api.path('session', 'oidc'), { return: returnPath() })}>Sign in with ${host}</a>
    <p class="dim or">or with a key</p>`;
}

/** Exchanges a key for a session. The key stays in the field and in this one request. */
export function SignIn() {
  const [error, setError] = useState(PROBLEMS[store.signInProblem.value] ?? null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    const field = event.target.elements.key;
    setBusy(true);
    setError(null);
    try {
      await store.signIn({ key: field.value.trim() });
    } catch (failure) {
      setError(failure);
      field.select();
    } finally {
      setBusy(false);
    }
  };
  return html`
    <main class="sign-in">
      <form onSubmit=${submit}>
        <h1><img src=${new URL('icon.svg', import.meta.url).href} alt="" width="36" height="36" />Isola</h1>
        ${store.signedOutBecause.value && html`<p class="notice" role="status">${store.signedOutBecause.value}</p>`}
        <${IdentityProvider} />
        <label for="key">API key</label>
        <input id="key" name="key" type="password" autocomplete="current-password" required autofocus
          spellcheck="false" placeholder="isk_…" />
        <button class="primary" disabled=${busy}>${busy ? 'Signing in' : 'Sign in'}</button>
        ${error && html`<${Problem} error=${error} />`}
        <p class="dim">The server printed its first key when it started. An operator creates more under Keys, or with <code>isola keys create</code>.</p>
      </form>
    </main>`;
}
