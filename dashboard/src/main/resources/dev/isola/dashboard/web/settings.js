import { signal } from '@preact/signals';
import { html, Action, Ago, Field, Pairs, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';
import { setStrict } from './keys.js';

const THEME = 'isola.theme';
const theme = signal(localStorage.getItem(THEME) ?? 'auto');

/** Only the choice of colours is kept in the browser. */
export function applyTheme() {
  if (theme.value === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme.value);
}

function choose(value) {
  theme.value = value;
  if (value === 'auto') localStorage.removeItem(THEME);
  else localStorage.setItem(THEME, value);
  applyTheme();
}

const KEYS = [['Ctrl K', 'go to a page or a sandbox'], ['/', 'filter'], ['g o', 'overview'], ['g s', 'sandboxes'], ['g e', 'events'], ['g p', 'providers'], ['Esc', 'close a dialog']];

/** Whether requests may use another provider than the first; a key with scope admin decides it for each key. */
function StrictMode({ who }) {
  const keys = useLoad(() => (store.can('admin') ? api.get(api.path('keys')) : Promise.resolve({ keys: [] })), []);
  const own = keys.data?.keys.find((one) => one.name === who.actor);
  return html`
    <section class="card"><h2>Strict mode</h2>
      ${own && html`<p>${own.strictNoFallback
        ? 'Requests of your key are strict: if the provider that they name fails, they fail, and no other provider is used.'
        : 'Requests of your key may fall back to another provider if the first one fails. The sandbox then says so.'}</p>`}
      ${own && own.name !== 'environment' && html`<p><${Action} run=${async () => { await setStrict(own, !own.strictNoFallback); keys.reload(); }}>${own.strictNoFallback ? 'Allow fallback' : 'Make my key strict'}<//></p>`}
      <p class="dim">${store.can('admin') ? html`Other keys are changed under <a href="#/keys">Keys</a>.${own?.name === 'environment' ? ' The key from the environment of the server cannot be changed.' : ''}` : 'An operator decides for each key whether its requests are strict.'}
        A single request is strict with “Fail rather than use another provider”.</p></section>`;
}

export function Settings() {
  const who = store.session.value;
  return html`
    <h1>Settings</h1>
    <div class="grid">
      <section class="card"><h2>Appearance</h2>
        <${Field} label="Colours">${(id) => html`<select id=${id} value=${theme.value} onChange=${(event) => choose(event.target.value)}>
          <option value="auto">as the system</option><option value="light">light</option><option value="dark">dark</option></select>`}<//></section>
      <section class="card"><h2>Session</h2><${Pairs} of=${[['Key', who.actor], ['Scope', who.scope], ['Ends', html`<${Ago} at=${who.expiresAt} />`], ['Server', who.version]]} />
        <p><button onClick=${store.signOut}>Sign out</button></p></section>
      <${StrictMode} who=${who} />
      <section class="card"><h2>Keyboard</h2><${Pairs} of=${KEYS.map(([keys, text]) => [text, html`<kbd>${keys}</kbd>`])} /></section>
    </div>`;
}
