import { useState } from 'preact/hooks';
import { html, Action, Ago, Empty, Field, Loaded, State, bytes, confirmed, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

function Content({ name }) {
  const [path, setPath] = useState('/');
  const list = useLoad(() => api.get(api.query(api.path('volumes', name, 'files'), { path })), [name, path]);
  const child = (one) => (path === '/' ? '' : path) + '/' + one.name;
  return html`<section class="card"><h2>${name}${path}</h2>
    <${Loaded} of=${list}>${({ entries }) => html`<ul class="plain-list">
      ${path !== '/' && html`<li><button class="plain as-link" onClick=${() => setPath(path.slice(0, path.lastIndexOf('/')) || '/')}>..</button></li>`}
      ${entries.map((one) => html`<li key=${one.name}>${one.type === 'folder' ? html`<button class="plain as-link" onClick=${() => setPath(child(one))}>${one.name}/</button>`
        : html`<a href=${api.query(api.path('volumes', name, 'files', 'content'), { path: child(one) })} download=${one.name}>${one.name}</a> <span class="dim">${bytes(one.size)}</span>`}</li>`)}
      ${entries.length === 0 && html`<li class="dim">Nothing here.</li>`}</ul>`}<//></section>`;
}

export function Volumes() {
  const list = useLoad(() => api.get(api.path('volumes')), []);
  const [name, setName] = useState('');
  const [open, setOpen] = useState(null);
  const create = async () => {
    await api.post(api.path('volumes'), { name });
    setName('');
    list.reload();
  };
  const erase = async (one) => {
    if (await confirmed(`The volume ${one.name} and its files will be gone.`, 'Remove')) {
      await api.remove(api.path('volumes', one.name));
      setOpen(null);
      list.reload();
    }
  };
  return html`
    <h1>Volumes</h1>
    ${store.can('use') && html`<form class="toolbar" onSubmit=${(event) => event.preventDefault()}>
      <${Field} label="Name">${(id) => html`<input id=${id} value=${name} onInput=${(event) => setName(event.target.value)} />`}<//>
      <${Action} kind="primary" run=${create} done="The volume is created" disabled=${!name}>Create a volume<//></form>`}
    <div class="grid"><section class="card"><h2>All volumes</h2>
      <${Loaded} of=${list}>${({ volumes }) => (volumes.length === 0 ? html`<${Empty} title="No volume yet">A volume is a folder that outlives sandboxes.<//>`
        : html`<table><thead><tr><th scope="col">Name</th><th scope="col">Provider</th><th scope="col">State</th><th scope="col">Created</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
          <tbody>${volumes.map((one) => html`<tr key=${one.id}><td><button class="plain as-link" onClick=${() => setOpen(one.name)}>${one.name}</button></td><td>${one.provider}</td><td><${State} value=${one.state} /></td><td><${Ago} at=${one.createdAt} /></td>
            <td>${store.can('use') && html`<${Action} kind="small" run=${() => erase(one)}>Remove<//>`}</td></tr>`)}</tbody></table>`)}<//></section>
      ${open && html`<${Content} key=${open} name=${open} />`}</div>`;
}
