import { useState } from 'preact/hooks';
import { html, Action, Ago, Badge, Copy, Dialog, Field, Loaded, attempt, confirmed, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const MEANING = { read: 'looks at everything', use: 'creates and uses sandboxes', admin: 'does everything, also keys and images' };

/** Changes whether requests of a key may fall back to another provider. */
export const setStrict = (key, strict) => api.patch(api.path('keys', key.name), { strictNoFallback: strict });

function Form({ onClose, onDone }) {
  const [secret, setSecret] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    const form = event.target.elements;
    attempt(async () => {
      const created = await api.post(api.path('keys'), { name: form.name.value, scope: form.scope.value, ...(form.strict.checked ? { strictNoFallback: true } : {}) });
      setSecret(created.key);
      onDone();
    });
  };
  return html`
    <${Dialog} title="Create a key" onClose=${onClose}>
      ${secret ? html`<p>Copy the key now. It is not shown again.</p><p><input readonly class="code" aria-label="Key" value=${secret} onFocus=${(event) => event.target.select()} /></p>
          <footer><${Copy} text=${secret} label="Copy the key" /><button class="primary" onClick=${onClose}>Done</button></footer>`
        : html`<form onSubmit=${submit}>
          <${Field} label="Name">${(id) => html`<input id=${id} name="name" required autofocus />`}<//>
          <${Field} label="Scope">${(id) => html`<select id=${id} name="scope">${Object.entries(MEANING).map(([scope, text]) => html`<option key=${scope} value=${scope}>${scope}: ${text}</option>`)}</select>`}<//>
          <label class="check"><input type="checkbox" name="strict" /> Strict: its requests never fall back to another provider</label>
          <footer><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Create</button></footer></form>`}
    <//>`;
}

export function Keys() {
  const list = useLoad(() => api.get(api.path('keys')), []);
  const [open, setOpen] = useState(false);
  const revoke = async (one) => {
    const own = one.name === store.session.value.actor;
    if (await confirmed(`Programs that use ${one.name} are refused from now on${own ? ', and this session ends: it is your own key' : ''}.`, 'Revoke')) {
      await api.remove(api.path('keys', one.name));
      list.reload();
    }
  };
  const toggle = async (one) => {
    await setStrict(one, !one.strictNoFallback);
    list.reload();
  };
  return html`
    <div class="title"><h1>Keys</h1><button class="primary" onClick=${() => setOpen(true)}>Create a key</button></div>
    <section class="card"><${Loaded} of=${list}>${({ keys }) => html`
      <div class="scroll-x" tabindex="0" role="region" aria-label="Keys"><table><thead><tr><th scope="col">Name</th><th scope="col">Scope</th><th scope="col">Policy</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
        <tbody>${keys.map((one) => html`<tr key=${one.name}><td><strong>${one.name}</strong>${one.name === store.session.value.actor && html` <${Badge}>yours<//>`}</td><td>${one.scope} <span class="dim wide-only">${MEANING[one.scope]}</span></td>
          <td>${one.strictNoFallback ? 'strict: no fallback' : 'may fall back'}</td><td><${Ago} at=${one.createdAt} /></td><td>${one.lastUsedAt ? html`<${Ago} at=${one.lastUsedAt} />` : 'never'}</td>
          <td class="row-actions">${one.name !== 'environment' && html`<${Action} kind="small" title=${`Change the policy of ${one.name}`} run=${() => toggle(one)}>${one.strictNoFallback ? 'Allow fallback' : 'Make strict'}<//> <${Action} kind="small" run=${() => revoke(one)}>Revoke<//>`}</td></tr>`)}</tbody></table></div>`}<//></section>
    ${open && html`<${Form} onClose=${() => setOpen(false)} onDone=${list.reload} />`}`;
}
