// The parts that pages are made of. Texts from the server are always children or attributes, which
// Preact escapes; nothing here takes HTML.
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import htm from 'htm';

export const html = htm.bind(h);

const ICONS = {
  overview: 'M3 12h4l3-8 4 16 3-8h4',
  sandboxes: 'M12 3 20 7.5v9L12 21 4 16.5v-9ZM4 7.5l8 4.5 8-4.5M12 12v9',
  providers: 'M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01',
  images: 'M4 6l8-3 8 3-8 3zM4 12l8 3 8-3M4 18l8 3 8-3',
  volumes: 'M5 6c0-4 14-4 14 0v12c0 4-14 4-14 0zM5 6c0 4 14 4 14 0M5 12c0 4 14 4 14 0',
  secrets: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  events: 'M5 6h.01M5 12h.01M5 18h.01M9 6h11M9 12h11M9 18h11',
  keys: 'M14.5 9.5 20 4M17 7l2 2M9.5 9.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Z',
  policy: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5',
  playground: 'M7 4v16l13-8z',
  api: 'M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14',
  folder: 'M3 6h6l2 2h10v11H3z',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  link: 'M9 15l6-6M10 6l2-2a4 4 0 0 1 6 6l-2 2M14 18l-2 2a4 4 0 0 1-6-6l2-2',
  close: 'M6 6l12 12M18 6 6 18',
  menu: 'M4 6h16M4 12h16M4 18h16',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM20 20l-4.9-4.9',
};

export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d=${ICONS[name] ?? ICONS.file} /></svg>`;

export const Badge = ({ kind, children }) => html`<span class="badge ${kind ?? ''}">${children}</span>`;

const STATE_KIND = {
  running: 'good', healthy: 'good', ready: 'good', available: 'good', allowed: 'good',
  creating: 'busy', waiting: 'busy', terminating: 'busy', removing: 'busy', degraded: 'warn',
  paused: 'calm', stopped: 'calm', error: 'bad', unhealthy: 'bad', failed: 'bad', denied: 'bad',
};
export const State = ({ value }) => html`<${Badge} kind=${STATE_KIND[value]}>${value}<//>`;

export const Spinner = ({ label }) => html`
  <p class="loading" role="status"><span class="spinner" aria-hidden="true"></span>${label ?? 'Loading'}</p>`;

/** What is wrong, and what to do about it. */
export const Problem = ({ error, retry }) => html`
  <div class="problem" role="alert">
    <strong>${error.message}</strong>
    ${error.remedy && html`<p>${error.remedy}</p>`}
    ${(error.code || error.requestId) && html`
      <p class="dim">${[error.code, error.requestId && `request ${error.requestId}`].filter(Boolean).join(' · ')}</p>`}
    ${retry && html`<button onClick=${retry}>Try again</button>`}
  </div>`;

export const Empty = ({ title, children }) => html`
  <div class="empty"><h2>${title}</h2><div>${children}</div></div>`;

/** Loads data when `inputs` change. Returns {data, error, loading, reload}. */
export function useLoad(load, inputs) {
  const [state, setState] = useState({ loading: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    load(abort.signal).then(
      (data) => !abort.signal.aborted && setState({ data, loading: false }),
      (error) => !abort.signal.aborted && setState((before) => ({ data: before.data, error, loading: false })));
    return () => abort.abort();
  }, [...inputs, turn]);
  return { ...state, reload: () => setTurn((n) => n + 1) };
}

/** Shows what is loaded, or why it is not. */
export function Loaded({ of, children }) {
  if (of.data === undefined) {
    return of.error ? html`<${Problem} error=${of.error} retry=${of.reload} />` : html`<${Spinner} />`;
  }
  return html`${of.error && html`<${Problem} error=${of.error} retry=${of.reload} />`}${children(of.data)}`;
}

// Messages at the edge of the page.
const TOAST_MS = 8000;
let toastNumber = 0;
const toasts = signal([]);

export function toast(text, kind = 'good', remedy = '') {
  const one = { id: ++toastNumber, text, kind, remedy };
  toasts.value = [...toasts.value.slice(-4), one];
  setTimeout(() => dismiss(one.id), TOAST_MS);
}
const dismiss = (id) => { toasts.value = toasts.value.filter((one) => one.id !== id); };

export const Toasts = () => html`
  <div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map((one) => html`
      <div class="toast ${one.kind}" key=${one.id}>
        <div>${one.text}${one.remedy && html`<div class="dim">${one.remedy}</div>`}</div>
        <button class="plain" aria-label="Dismiss" onClick=${() => dismiss(one.id)}><${Icon} name="close" /></button>
      </div>`)}
  </div>`;

/** Runs an action of the person; says what failed. */
export async function attempt(action, done) {
  try {
    const result = await action();
    if (done) toast(done);
    return result;
  } catch (error) {
    toast(error.message, 'bad', error.remedy);
    return undefined;
  }
}

/** A button that is busy while its action runs. */
export function Action({ run, done, children, kind, title, disabled }) {
  const [busy, setBusy] = useState(false);
  const alive = useRef(true);
  useEffect(() => () => { alive.current = false; }, []);
  const click = async () => {
    setBusy(true);
    await attempt(run, done);
    if (alive.current) setBusy(false);
  };
  return html`<button type="button" class=${kind ?? ''} title=${title} disabled=${busy || disabled} aria-busy=${busy} onClick=${click}>${children}</button>`;
}

/** A modal dialog; the browser keeps the focus in it and closes it with Escape. */
export function Dialog({ title, onClose, children, wide }) {
  const element = useRef(null);
  useEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`
    <dialog ref=${element} class=${wide ? 'wide' : ''} aria-label=${title}
        onCancel=${(event) => { event.preventDefault(); onClose(); }}>
      <header><h2>${title}</h2>
        <button class="plain" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></header>
      ${children}
    </dialog>`;
}

const asking = signal(null);

/** Asks before something that cannot be undone. */
export const confirmed = (question, verb) =>
  new Promise((resolve) => { asking.value = { question, verb, resolve }; });

export function Confirmation() {
  const one = asking.value;
  if (!one) return null;
  const answer = (yes) => { asking.value = null; one.resolve(yes); };
  return html`
    <${Dialog} title=${`${one.verb}?`} onClose=${() => answer(false)}>
      <p>${one.question}</p>
      <footer><button onClick=${() => answer(false)}>Cancel</button>
        <button class="danger" onClick=${() => answer(true)}>${one.verb}</button></footer>
    <//>`;
}

let fieldNumber = 0;

/** A labelled control: `control(id)` returns it. */
export function Field({ label, hint, error, children }) {
  const id = useRef(null);
  id.current ??= `field-${++fieldNumber}`;
  return html`
    <div class="field ${error ? 'wrong' : ''}">
      <label for=${id.current}>${label}</label>
      ${children(id.current)}
      ${error ? html`<small class="bad" role="alert">${error}</small>` : hint && html`<small>${hint}</small>`}
    </div>`;
}

export const Tabs = ({ tabs, current, href }) => html`
  <nav class="tabs" aria-label="Sections">
    ${tabs.map(([key, label]) => html`
      <a key=${key} href=${href(key)} aria-current=${key === current ? 'page' : undefined}>${label}</a>`)}
  </nav>`;

export const Pairs = ({ of }) => html`
  <dl class="pairs">
    ${of.filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;

export function Copy({ text, label }) {
  const copy = () => attempt(() => navigator.clipboard.writeText(text), 'Copied');
  return html`<button type="button" class="small" onClick=${copy}>${label ?? 'Copy'}</button>`;
}

/** The tags of the client; those that begin with isola. are the server's own. */
export const Tags = ({ of }) => Object.entries(of).filter(([key]) => !key.startsWith('isola.'))
  .map(([key, value]) => html`<span class="tag" key=${key} title=${`${key}=${value}`}>${key}=${value}</span>`);

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
export function bytes(count) {
  if (count === undefined || count === null) return '';
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

const DATE_AND_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hour12: false });

/** One clock for all times on the page. */
const now = signal(Date.now());
setInterval(() => { now.value = Date.now(); }, 10_000);

export function Ago({ at }) {
  if (!at) return null;
  const seconds = (Date.parse(at) - now.value) / 1000;
  const text = seconds > 0 ? `in ${duration(seconds)}` : `${duration(-seconds)} ago`;
  return html`<time dateTime=${at} title=${DATE_AND_TIME.format(new Date(at))}>${text}</time>`;
}

export const clock = (at) => TIME.format(new Date(at));

/** A table with a fixed height of rows that draws only those in view. */
export function LongTable({ columns, rows, keyOf, label, rowHeight = 44, empty }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => { element.removeEventListener('scroll', measure); observer.disconnect(); };
  }, []);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - 8);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + 8);
  return html`
    <div class="long-table" ref=${box} tabindex="0" role="region" aria-label=${label}>
      <table aria-rowcount=${rows.length + 1}>
        <thead><tr>${columns.map((one) => html`<th key=${one.key} scope="col" class=${one.class}>${one.head ?? one.label}</th>`)}</tr></thead>
        <tbody>
          ${first > 0 && html`<tr aria-hidden="true" style=${{ height: `${first * rowHeight}px` }}></tr>`}
          ${rows.slice(first, last).map((row) => html`
            <tr key=${keyOf(row)} style=${{ height: `${rowHeight}px` }}>
              ${columns.map((one) => html`<td key=${one.key} class=${one.class}>${one.cell(row)}</td>`)}
            </tr>`)}
          ${last < rows.length && html`<tr aria-hidden="true" style=${{ height: `${(rows.length - last) * rowHeight}px` }}></tr>`}
        </tbody>
      </table>
      ${rows.length === 0 && empty}
    </div>`;
}
