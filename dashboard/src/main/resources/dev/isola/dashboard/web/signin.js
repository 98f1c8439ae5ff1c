import { useState } from 'preact/hooks';
import { html, Problem } from './ui.js';
import * as store from './store.js';

/** Exchanges a key for a session. The key stays in the field and in this one request. */
export function SignIn() {
  const [error, setError] = useState(null);
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
        <label for="key">API key</label>
        <input id="key" name="key" type="password" autocomplete="current-password" required autofocus
          spellcheck="false" placeholder="isk_…" />
        <button class="primary" disabled=${busy}>${busy ? 'Signing in' : 'Sign in'}</button>
        ${error && html`<${Problem} error=${error} />`}
        <p class="dim">The server printed its first key when it started. An operator creates more under Keys, or with <code>isola key create</code>.</p>
      </form>
    </main>`;
}
