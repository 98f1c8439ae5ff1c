import { useState } from 'preact/hooks';
import { html, Empty, LongTable, Problem, clock, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const TYPES = ['spawn', 'ready', 'stateChange', 'resourceWarning', 'error', 'terminate', 'snapshot', 'snapshotFailed', 'quarantine', 'egressDenied', 'egressConnection'];
const KEPT = 5000;
const PAST = 2000;

/** The latest events, newest first: the past once, then what the shared stream brings. */
function useEvents() {
  const past = useLoad((signal) => api.readEvents({ last: PAST }, TYPES, signal).then((list) => list.reverse()), []);
  const live = store.events.value;
  const oldest = live.length ? live.at(-1).number : Infinity;
  return { ...past, list: [...live, ...(past.data ?? []).filter((one) => one.number < oldest)].slice(0, KEPT) };
}

export function Events({ search }) {
  const events = useEvents();
  const [text, setText] = useState('');
  const [type, setType] = useState(search.get('type') ?? '');
  const [held, setHeld] = useState(null);
  const all = held ?? events.list;
  const words = text.toLowerCase();
  const rows = all.filter((one) => (!type || one.type === type) && (!words || JSON.stringify(one).toLowerCase().includes(words)));
  const columns = [
    { key: 'number', label: 'No.', class: 'narrow wide-only', cell: (one) => one.number },
    { key: 'at', label: 'Time', cell: (one) => html`<time dateTime=${one.at}>${clock(one.at)}</time>` },
    { key: 'type', label: 'Type', cell: (one) => one.type },
    { key: 'sandbox', label: 'Sandbox', cell: (one) => one.sandbox && html`<a href=${`#/sandboxes/${one.sandbox}`}>${store.sandboxes.value.get(one.sandbox)?.name ?? one.sandbox}</a>` },
    { key: 'data', label: 'Data', class: 'wide-only', cell: (one) => html`<code class="clip" title=${JSON.stringify(one.data ?? {})}>${JSON.stringify(one.data ?? {})}</code>` },
  ];
  return html`
    <h1>Events</h1>
    <div class="toolbar">
      <input type="search" aria-label="Filter events" placeholder="Text, sandbox, host" value=${text} onInput=${(event) => setText(event.target.value)} />
      <select aria-label="Type" value=${type} onChange=${(event) => setType(event.target.value)}><option value="">every type</option>${TYPES.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>
      <button aria-pressed=${held !== null} onClick=${() => setHeld(held ? null : events.list)}>${held ? 'Continue' : 'Hold'}</button>
      <span class="dim" role="status">${rows.length} events${held ? ', held' : ''}</span></div>
    ${events.error && html`<${Problem} error=${events.error} retry=${events.reload} />`}
    <${LongTable} label="Events" columns=${columns} rows=${rows} rowHeight=${34} keyOf=${(one) => one.number} empty=${html`<${Empty} title="No event">Events appear here as they happen.<//>`} />`;
}
