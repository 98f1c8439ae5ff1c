import { useState } from 'preact/hooks';
import { html, Action, Ago, Empty, Field, Loaded, State, bytes, confirmed, toast, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

/** The id of the sandbox that another was forked from. */
const origin = (sandbox) => sandbox.tags['isola.forkOf'];

function Branch({ sandbox, children, current }) {
  return html`
    <li><a href=${`#/sandboxes/${sandbox.id}`} aria-current=${sandbox.id === current ? 'true' : undefined}>${sandbox.name ?? sandbox.id}</a> <${State} value=${sandbox.state} />
      <span class="dim"><${Ago} at=${sandbox.createdAt} /></span>
      ${(children.get(sandbox.id) ?? []).length > 0 && html`<ul class="tree">${children.get(sandbox.id).map((one) => html`<${Branch} key=${one.id} sandbox=${one} children=${children} current=${current} />`)}</ul>`}</li>`;
}

function ForkTree({ sandbox }) {
  const all = store.sandboxes.value;
  const children = new Map();
  for (const one of all.values()) {
    const from = origin(one);
    if (from) children.set(from, [...(children.get(from) ?? []), one]);
  }
  let root = sandbox;
  const seen = new Set();
  while (all.has(origin(root)) && !seen.has(root.id)) {
    seen.add(root.id);
    root = all.get(origin(root));
  }
  return html`<ul class="tree"><${Branch} sandbox=${root} children=${children} current=${sandbox.id} /></ul>`;
}

export function Snapshots({ sandbox, id }) {
  const list = useLoad(() => api.get(api.query(api.path('snapshots'), { sandbox: id })), [id]);
  const [count, setCount] = useState(1);
  const make = async () => {
    await api.post(api.sandboxPath(id, 'snapshots'), {});
    list.reload();
  };
  const fork = async () => {
    const result = await api.post(api.sandboxPath(id, 'fork'), { count: Number(count) });
    result.forks.forEach((one) => one.sandbox && store.putSandbox(one.sandbox));
    const failed = result.forks.filter((one) => one.error);
    if (failed.length) throw new Error(`${failed.length} of ${result.forks.length} forks failed: ${failed[0].error.detail}`);
    toast(result.forks.length === 1 ? 'One fork is running' : `${result.forks.length} forks are running`);
  };
  const erase = async (one) => {
    if (await confirmed(`The snapshot ${one.id} will be removed.`, 'Remove')) {
      await api.remove(api.path('snapshots', one.id));
      list.reload();
    }
  };
  return html`
    <div class="grid">
      <section class="card"><div class="title"><h2>Snapshots</h2>${store.can('use') && html`<${Action} kind="primary" run=${make} done="The snapshot is stored">Take a snapshot<//>`}</div>
        <${Loaded} of=${list}>${({ snapshots }) => (snapshots.length === 0
          ? html`<${Empty} title="No snapshot yet">A snapshot keeps the files of the sandbox as they are now.<//>`
          : html`<table><thead><tr><th scope="col">Taken</th><th scope="col">Id</th><th scope="col">Files</th><th scope="col">Size</th><th scope="col">New</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
              <tbody>${[...snapshots].reverse().map((one) => html`<tr key=${one.id}><td><${Ago} at=${one.createdAt} /></td><td><code>${one.id}</code></td><td>${one.files}</td><td>${bytes(one.bytes)}</td><td>${bytes(one.newBytes)}</td>
                <td>${store.can('use') && html`<${Action} kind="small" run=${() => erase(one)}>Remove<//>`}</td></tr>`)}</tbody></table>`)}<//></section>
      <section class="card"><h2>Forks</h2>
        <${ForkTree} sandbox=${sandbox} />
        ${store.can('use') && html`<form class="toolbar" onSubmit=${(event) => event.preventDefault()}>
          <${Field} label="How many">${(field) => html`<input id=${field} type="number" min="1" max="100" value=${count} onInput=${(event) => setCount(event.target.value)} />`}<//>
          <${Action} run=${fork}>Fork<//></form>`}</section>
    </div>`;
}
