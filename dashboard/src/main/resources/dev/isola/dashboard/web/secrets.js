import { useState } from 'preact/hooks';
import { html, Action, Ago, Dialog, Empty, Field, Loaded, attempt, confirmed, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

/** A value can be written and replaced; nothing ever shows it again. */
function Form({ secret, onClose, onDone }) {
  const submit = (event) => {
    event.preventDefault();
    const form = event.target.elements;
    attempt(async () => {
      const keys = form.keys.value.split(/[\s,]+/).filter(Boolean);
      await api.put(api.path('secrets', form.name.value), {
        value: form.value.value, hosts: form.hosts.value.split(/[\s,]+/).filter(Boolean), ...(keys.length ? { keys } : {}),
      });
      onDone();
    }, 'The secret is stored');
  };
  return html`
    <${Dialog} title=${secret ? `Replace ${secret.name}` : 'Store a secret'} onClose=${onClose}>
      <form onSubmit=${submit}>
        <${Field} label="Name">${(id) => html`<input id=${id} name="name" required readonly=${Boolean(secret)} value=${secret?.name ?? ''} />`}<//>
        <${Field} label="Value" hint="No page, response or log shows it again.">${(id) => html`<input id=${id} name="value" type="password" autocomplete="off" required />`}<//>
        <${Field} label="Hosts that receive it" hint="such as api.example.org">${(id) => html`<input id=${id} name="hosts" required value=${secret?.hosts.join(', ') ?? ''} />`}<//>
        <${Field} label="Keys that may use it" hint="names; empty: all">${(id) => html`<input id=${id} name="keys" value=${secret?.keys?.join(', ') ?? ''} />`}<//>
        <footer><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Store</button></footer></form>
    <//>`;
}

export function Secrets() {
  const list = useLoad(() => api.get(api.path('secrets')), []);
  const [open, setOpen] = useState(undefined);
  const admin = store.can('admin');
  const erase = async (one) => {
    if (await confirmed(`${one.name} will be removed. Sandboxes keep its placeholder, for which no host receives the value any more.`, 'Remove')) {
      await api.remove(api.path('secrets', one.name));
      list.reload();
    }
  };
  return html`
    <div class="title"><h1>Secrets</h1>${admin && html`<button class="primary" onClick=${() => setOpen(null)}>Store a secret</button>`}</div>
    <p>A sandbox sees only a placeholder. The server puts the value into requests to the hosts named here.</p>
    <section class="card"><${Loaded} of=${list}>${({ secrets }) => (secrets.length === 0 ? html`<${Empty} title="No secret yet">${admin ? 'Store one, then name it in the egress settings of a sandbox.' : 'A key with scope admin stores secrets.'}<//>`
      : html`<table><thead><tr><th scope="col">Name</th><th scope="col">Hosts</th><th scope="col">Keys</th><th scope="col">Placeholder</th><th scope="col">Updated</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
        <tbody>${secrets.map((one) => html`<tr key=${one.name}><td><strong>${one.name}</strong></td><td>${one.hosts.join(', ')}</td><td>${one.keys?.join(', ') ?? 'all'}</td><td><code class="clip">${one.placeholder}</code></td><td><${Ago} at=${one.updatedAt} /></td>
          <td>${admin && html`<button class="small" onClick=${() => setOpen(one)}>Replace</button> <${Action} kind="small" run=${() => erase(one)}>Remove<//>`}</td></tr>`)}</tbody></table>`)}<//></section>
    ${open !== undefined && html`<${Form} secret=${open} onClose=${() => setOpen(undefined)} onDone=${() => { setOpen(undefined); list.reload(); }} />`}`;
}
