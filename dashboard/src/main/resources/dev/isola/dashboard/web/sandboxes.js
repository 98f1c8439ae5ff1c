import { useState } from 'preact/hooks';
import { html, Action, Ago, Empty, LongTable, Problem, Spinner, State, Tags, attempt, confirmed } from './ui.js';
import { CreateDialog } from './create.js';
import * as api from './api.js';
import * as store from './store.js';

const STATES = {
  '': 'every state', running: 'running', suspended: 'suspended', error: 'failed', creating: 'being created', expiring: 'expiring',
};

function matchesState(sandbox, state) {
  if (!state) return true;
  if (state === 'suspended') return ['paused', 'stopped'].includes(sandbox.state);
  if (state === 'expiring') return store.isExpiring(sandbox);
  return sandbox.state === state;
}

/** `key=value` compares a tag; anything else is looked for in the name, the id, the image and the tags. */
function matchesText(sandbox, text) {
  return text === '' || text.toLowerCase().split(/\s+/).filter(Boolean).every((word) => {
    const [key, value] = word.split('=');
    if (value !== undefined) return (sandbox.tags[key] ?? '').toLowerCase().includes(value);
    const tags = Object.entries(sandbox.tags).flat();
    return [sandbox.id, sandbox.name, sandbox.provider, sandbox.spec?.image, ...tags]
      .some((one) => one?.toLowerCase().includes(word));
  });
}

/** Runs an action on many sandboxes, a few at a time, and says how many failed. */
async function forAll(ids, action) {
  const failures = [];
  const queue = [...ids];
  const worker = async () => {
    for (let id = queue.shift(); id; id = queue.shift()) {
      try {
        await action(id);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  if (failures.length) {
    failures[0].message = `${failures.length} of ${ids.length} failed; the first: ${failures[0].message}`;
    throw failures[0];
  }
}

export function Sandboxes({ search }) {
  const [text, setText] = useState(search.get('text') ?? '');
  const [provider, setProvider] = useState('');
  const [chosen, setChosen] = useState(new Set());
  const state = search.get('state') ?? '';
  const all = store.newestFirst.value;
  const providers = [...new Set(all.map((one) => one.provider))].sort();
  const rows = all
    .filter((one) => matchesState(one, state) && matchesText(one, text) && (!provider || one.provider === provider));
  const selected = rows.filter((one) => chosen.has(one.id)).map((one) => one.id);
  const toggle = (id, on) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const bulk = (verb, action) => () => attempt(async () => {
    await forAll(selected, action);
    setChosen(new Set());
  }, `${verb}: ${selected.length}`);
  const destroy = async () => {
    if (await confirmed(`${selected.length} sandboxes and their files will be gone.`, 'Destroy')) {
      await bulk('Destroyed', (id) => api.remove(api.query(api.sandboxPath(id), { force: true })))();
    }
  };
  const columns = [
    ...(store.can('use') ? [{
      key: 'chosen', class: 'narrow',
      head: html`<input type="checkbox" aria-label="Select all" checked=${rows.length > 0 && selected.length === rows.length}
        onChange=${(event) => setChosen(new Set(event.target.checked ? rows.map((one) => one.id) : []))} />`,
      cell: (one) => html`<input type="checkbox" aria-label=${`Select ${one.name ?? one.id}`} checked=${chosen.has(one.id)}
        onChange=${(event) => toggle(one.id, event.target.checked)} />`,
    }] : []),
    { key: 'name', label: 'Sandbox', cell: (one) => html`<a href=${`#/sandboxes/${one.id}`} class="main-link">${one.name ?? one.id}</a>` },
    { key: 'state', label: 'State', cell: (one) => html`<${State} value=${one.state} />` },
    { key: 'provider', label: 'Provider', class: 'wide-only', cell: (one) => html`${one.provider} <span class="dim wide-only">${one.isolation}</span>` },
    { key: 'image', label: 'Image', class: 'wide-only', cell: (one) => one.spec?.image ?? '' },
    { key: 'created', label: 'Created', class: 'wide-only', cell: (one) => html`<${Ago} at=${one.createdAt} />` },
    { key: 'expires', label: 'Expires', cell: (one) => html`<${Ago} at=${one.expiresAt} />` },
    { key: 'tags', label: 'Tags', class: 'wide-only', cell: (one) => html`<span class="clip"><${Tags} of=${one.tags} /></span>` },
  ];
  if (store.sandboxesState.value.loading) return html`<h1>Sandboxes</h1><${Spinner} />`;
  return html`
    <div class="title"><h1>Sandboxes</h1>
      ${store.can('use') && html`<a class="button primary" href="#/sandboxes?create=1">Create a sandbox</a>`}</div>
    ${store.sandboxesState.value.error && html`<${Problem} error=${store.sandboxesState.value.error} retry=${store.loadSandboxes} />`}
    <div class="toolbar">
      <input type="search" aria-label="Filter" placeholder="Name, id, image or key=value" value=${text} onInput=${(event) => setText(event.target.value)} />
      <select aria-label="State" value=${state} onChange=${(event) => { location.hash = api.query('/sandboxes', { state: event.target.value }); }}>
        ${Object.entries(STATES).map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}</select>
      <select aria-label="Provider" value=${provider} onChange=${(event) => setProvider(event.target.value)}>
        <option value="">every provider</option>${providers.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>
      <span class="dim" role="status">${rows.length} of ${all.length}</span>
    </div>
    ${selected.length > 0 && html`
      <div class="toolbar chosen"><strong>${selected.length} selected</strong>
        <${Action} run=${bulk('Paused', (id) => api.post(api.sandboxPath(id, 'pause')))}>Pause<//>
        <${Action} run=${bulk('Resumed', (id) => api.post(api.sandboxPath(id, 'resume')))}>Resume<//>
        <${Action} run=${bulk('Extended by an hour', (id) => api.post(api.sandboxPath(id, 'renew'), { ttlSeconds: 3600 }).then(store.putSandbox))}>Expire in an hour<//>
        <${Action} kind="danger" run=${destroy}>Destroy<//></div>`}
    <${LongTable} label="Sandboxes" columns=${columns} rows=${rows} keyOf=${(one) => one.id} empty=${html`
      <${Empty} title=${all.length ? 'No sandbox matches' : 'No sandbox yet'}>
        ${all.length ? 'Change the filter.' : store.can('use') ? html`<a class="button primary" href="#/sandboxes?create=1">Create a sandbox</a>` : 'A key with scope use creates sandboxes.'}<//>`} />
    ${search.get('create') && store.can('use') && html`<${CreateDialog} onClose=${() => { location.hash = '/sandboxes'; }} />`}`;
}
