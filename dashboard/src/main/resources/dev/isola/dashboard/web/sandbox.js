import { useEffect, useState } from 'preact/hooks';
import { html, Action, Ago, Badge, Copy, Dialog, Field, Pairs, Problem, Spinner, State, Tabs, Tags, bytes, clock, confirmed, duration, toast, useLoad } from './ui.js';
import { Chart } from './chart.js';
import { Terminals } from './terminals.js';
import { Executions } from './executions.js';
import { Files } from './files.js';
import { Ports } from './ports.js';
import { Egress } from './egress.js';
import { Snapshots } from './snapshots.js';
import * as api from './api.js';
import * as store from './store.js';

const TABS = [
  ['summary', 'Summary'], ['terminal', 'Terminals', 'use'], ['commands', 'Commands'], ['files', 'Files'],
  ['ports', 'Ports'], ['egress', 'Egress', 'use'], ['snapshots', 'Snapshots'], ['events', 'Events'], ['audit', 'Audit', 'admin'],
];

const isShared = () => Boolean(store.sharedSandbox.value);

/** What a share link does not reach: it is limited to the sandbox. */
const NOT_SHARED = new Set(['egress', 'snapshots', 'audit']);

function offeredTabs() {
  return TABS.filter(([key, , scope]) => store.can(scope ?? 'read') && !(isShared() && NOT_SHARED.has(key)));
}

export function SandboxPage({ id, tab, rest, search }) {
  const sandbox = store.sandboxes.value.get(id);
  const [missing, setMissing] = useState(null);
  useEffect(() => {
    let gone = false;
    api.get(api.sandboxPath(id)).then(
      (one) => { if (!gone) { store.putSandbox(one); setMissing(null); } },
      (error) => !gone && setMissing(error));
    return () => { gone = true; };
  }, [id]);
  if (!sandbox) {
    return missing ? html`<h1>${id}</h1><${Problem} error=${missing} /><p><a href="#/sandboxes">All sandboxes</a></p>`
      : html`<${Spinner} label="Loading the sandbox" />`;
  }
  const current = offeredTabs().some(([key]) => key === tab) ? tab : 'summary';
  const Page = { summary: Summary, terminal: Terminals, commands: Executions, files: Files, ports: Ports, egress: Egress, snapshots: Snapshots, events: SandboxEvents, audit: Audit }[current];
  return html`
    <div class="title">
      <h1>${sandbox.name ?? sandbox.id} <${State} value=${sandbox.state} /></h1>
      <${Actions} sandbox=${sandbox} />
    </div>
    ${sandbox.cause && html`<p class="notice">${sandbox.cause}</p>`}
    <${Tabs} tabs=${offeredTabs()} current=${current} href=${(key) => `#/sandboxes/${id}/${key}`} />
    <${Page} sandbox=${sandbox} id=${id} rest=${rest} search=${search} />`;
}

function Actions({ sandbox }) {
  const [sharing, setSharing] = useState(false);
  if (!store.can('use') || sandbox.state === 'destroyed') return null;
  const change = (verb) => () => api.post(api.sandboxPath(sandbox.id, verb)).then(store.putSandbox);
  const destroy = async () => {
    if (await confirmed(`${sandbox.name ?? sandbox.id} and its files will be gone.`, 'Destroy')) {
      await api.remove(api.query(api.sandboxPath(sandbox.id), { force: true }));
      toast(`${sandbox.name ?? sandbox.id} is destroyed`);
      if (!isShared()) location.hash = '/sandboxes';
    }
  };
  const fork = async () => {
    const result = await api.post(api.sandboxPath(sandbox.id, 'fork'), { count: 1 });
    const [first] = result.forks;
    if (!first.sandbox) throw new Error(first.error?.detail ?? 'the fork failed');
    store.putSandbox(first.sandbox);
    toast(`Forked as ${first.sandbox.id}`);
    location.hash = `/sandboxes/${first.sandbox.id}`;
  };
  const runs = sandbox.state === 'running';
  const rests = ['paused', 'stopped'].includes(sandbox.state);
  return html`
    <div class="actions">
      ${runs && html`<${Action} run=${change('pause')}>Pause<//><${Action} run=${change('stop')} title="Ends its processes and keeps its files">Stop<//>`}
      ${rests && html`<${Action} kind="primary" run=${change('resume')}>Resume<//>`}
      <${Action} run=${() => api.post(api.sandboxPath(sandbox.id, 'renew'), { ttlSeconds: 3600 }).then(store.putSandbox)} done="It expires in an hour" title="Expires one hour from now">Extend<//>
      ${!isShared() && html`
        <${Action} run=${fork} disabled=${!runs && !rests}>Fork<//>
        <${Action} run=${() => api.post(api.sandboxPath(sandbox.id, 'snapshots'), {})} done="The snapshot is stored">Snapshot<//>
        <button onClick=${() => setSharing(true)}>Share</button>`}
      <${Action} kind="danger" run=${destroy}>Destroy<//>
    </div>
    ${sharing && html`<${Share} id=${sandbox.id} onClose=${() => setSharing(false)} />`}`;
}

function Share({ id, onClose }) {
  const [scope, setScope] = useState('read');
  const [hours, setHours] = useState(1);
  const [link, setLink] = useState(null);
  const make = async () => {
    const token = await api.post(api.sandboxPath(id, 'tokens'), { scope, ttlSeconds: Math.round(hours * 3600) });
    setLink({ url: `${location.origin}/ui#/share/${encodeURIComponent(token.token)}/${id}`, expiresAt: token.expiresAt });
  };
  return html`
    <${Dialog} title="Share this sandbox" onClose=${onClose}>
      <p>A person with the link reaches this sandbox and nothing else of the server, until the link expires. It cannot be withdrawn before.</p>
      <${Field} label="The link allows">${(field) => html`<select id=${field} value=${scope} onChange=${(event) => setScope(event.target.value)}>
        <option value="read">to look: files, output, state</option><option value="use">to use: commands, terminals, files, destroying it</option></select>`}<//>
      <${Field} label="Hours until it expires">${(field) => html`<input id=${field} type="number" min="0.1" max="720" step="0.1" value=${hours} onInput=${(event) => setHours(event.target.value)} />`}<//>
      ${link && html`<p><input readonly aria-label="Link" value=${link.url} onFocus=${(event) => event.target.select()} /></p>
        <p><${Copy} text=${link.url} label="Copy the link" /> <span class="dim">expires <${Ago} at=${link.expiresAt} /></span></p>`}
      <footer><button onClick=${onClose}>Close</button><${Action} kind="primary" run=${make}>Create a link<//></footer>
    <//>`;
}

const USAGE_SAMPLES = 180;

/** The status while the page is open; to look at it does not count as use. */
function useUsage(sandbox) {
  const [samples, setSamples] = useState([]);
  const [status, setStatus] = useState(null);
  const running = sandbox.state === 'running';
  useEffect(() => {
    if (!running) return undefined;
    return api.follow(api.sandboxPath(sandbox.id, 'status', 'stream'), {
      status: (one) => {
        setStatus(one);
        if (one.usage) setSamples((before) => [...before, { at: Date.now() / 1000, ...one.usage }].slice(-USAGE_SAMPLES));
      },
    });
  }, [sandbox.id, running]);
  return { samples, status };
}

function Summary({ sandbox }) {
  const { samples, status } = useUsage(sandbox);
  const times = samples.map((one) => one.at);
  const last = samples.at(-1);
  const { spec } = sandbox;
  return html`
    <div class="grid">
      <section class="card"><h2>Details</h2>
        <${Pairs} of=${[
          ['Id', html`<code>${sandbox.id}</code>`], ['Provider', sandbox.provider], ['Isolation', sandbox.isolation],
          ['Started', sandbox.warm ? 'from the warm pool' : 'cold'], ['Image', spec.image ?? 'the default'],
          ['Created', html`<${Ago} at=${sandbox.createdAt} />`], ['Last use', html`<${Ago} at=${sandbox.lastActivity} />`],
          ['Expires', sandbox.expiresAt ? html`<${Ago} at=${sandbox.expiresAt} /> (${spec.whenExpired ?? 'destroy'})` : 'never'],
          ['Health', status && html`<${State} value=${status.health} /> ${status.reason ?? ''}`],
          ['Network', spec.network?.mode ?? 'the default'], ['Forked from', sandbox.tags['isola.forkOf'] && html`<a href=${`#/sandboxes/${sandbox.tags['isola.forkOf']}`}>${sandbox.tags['isola.forkOf']}</a>`],
          ['Folder', spec.workspaceMount], ['User', spec.user],
          ['Not enforced', sandbox.unenforcedLimits?.join(', ')],
        ]} />
        <p><${Tags} of=${sandbox.tags} /></p></section>
      <${Timeline} sandbox=${sandbox} />
      ${samples.length > 1 && html`
        <section class="card"><${Chart} title="Processor" times=${times} least=${10} format=${(v) => `${Math.round(v)} %`} series=${[{ label: 'of one processor', values: samples.map((one) => one.cpuPercent ?? null) }]} /></section>
        <section class="card"><${Chart} title="Memory" times=${times} least=${16 * 1024 * 1024} format=${bytes} series=${[{ label: 'used', values: samples.map((one) => one.memoryBytes) }]} /></section>`}
      ${last && html`<section class="card"><h2>Usage</h2><${Pairs} of=${[
        ['Processor time', `${(last.cpuMs / 1000).toFixed(1)} s`], ['Memory', `${bytes(last.memoryBytes)}, at most ${bytes(last.memoryPeakBytes)}`],
        ['Disk', bytes(last.diskBytes)], ['Received', bytes(last.receivedBytes)], ['Sent', bytes(last.sentBytes)],
        ['Processes', last.processes], ['Uptime', duration(last.uptimeMs / 1000)]]} /></section>`}
      ${status?.errors?.length > 0 && html`<section class="card"><h2>Errors</h2><ul class="plain-list">${status.errors.map((one, index) => html`
        <li key=${index}><time class="dim">${clock(one.at)}</time> <strong>${one.code}</strong> ${one.detail ?? one.message ?? ''}</li>`)}</ul></section>`}
      <section class="card"><details><summary>Spec</summary><pre>${JSON.stringify(spec, null, 2)}</pre></details></section>
    </div>`;
}

/** States of the sandbox, from its events, and the providers that were tried before. */
function Timeline({ sandbox }) {
  const past = useEvents(sandbox.id);
  const states = past.filter((one) => one.data?.to);
  return html`
    <section class="card"><h2>Timeline</h2>
      <ol class="timeline">
        ${sandbox.attempts.map((one, index) => html`<li key=${`attempt ${index}`}><${Badge} kind="warn">${one.provider} failed<//> ${one.reason}</li>`)}
        ${states.map((one) => html`<li key=${one.number}><time class="dim" dateTime=${one.at}>${clock(one.at)}</time> <${State} value=${one.data.to} />
          ${one.data.cause && html` <span>${one.data.cause}</span>`}</li>`)}
        ${states.length === 0 && html`<li class="dim">Loading the history</li>`}
      </ol></section>`;
}

const HISTORY = 500;

/** The events of a sandbox, oldest first: the past once, then what the shared stream brings. */
function useEvents(id) {
  const [list, setList] = useState([]);
  useEffect(() => {
    const abort = new AbortController();
    const add = (more) => setList((before) => {
      const all = new Map([...before, ...more].map((one) => [one.number, one]));
      return [...all.values()].sort((a, b) => a.number - b.number).slice(-HISTORY);
    });
    setList([]);
    const stop = store.onEvent((event) => event.sandbox === id && add([event]));
    api.readEvents({ sandbox: id, after: 0 }, store.EVENT_TYPES, abort.signal)
      .then(add, (error) => !abort.signal.aborted && toast(error.message, 'bad', error.remedy));
    return () => { abort.abort(); stop(); };
  }, [id]);
  return list;
}

function SandboxEvents({ id }) {
  const list = useEvents(id);
  return html`
    <section class="card"><h2>Events</h2>
      <table class="events"><thead><tr><th scope="col">Time</th><th scope="col">Type</th><th scope="col">Data</th></tr></thead>
        <tbody>${[...list].reverse().map((one) => html`<tr key=${one.number}><td><time dateTime=${one.at}>${new Date(one.at).toLocaleString()}</time></td>
          <td>${one.type}</td><td><code>${JSON.stringify(one.data ?? {})}</code></td></tr>`)}</tbody></table>
      ${list.length === 0 && html`<p class="dim">No events yet.</p>`}</section>`;
}

function Audit({ id }) {
  const log = useLoad(() => api.get(api.query(api.path('audit'), { sandbox: id, limit: 200 })), [id]);
  if (log.error) return html`<${Problem} error=${log.error} retry=${log.reload} />`;
  if (!log.data) return html`<${Spinner} />`;
  return html`
    <section class="card"><h2>Who did what</h2>
      <div class="scroll-x" tabindex="0" role="region" aria-label="Audit log"><table class="events"><thead><tr><th scope="col">Time</th><th scope="col">Actor</th><th scope="col">Action</th><th scope="col">Result</th></tr></thead>
        <tbody>${log.data.entries.map((one, index) => html`<tr key=${index}><td>${new Date(one.at).toLocaleString()}</td><td>${one.actor ?? one.key}</td>
          <td>${one.action}</td><td>${one.status ?? one.outcome} ${one.code ?? ''}</td></tr>`)}</tbody></table></div>
      ${log.data.entries.length === 0 && html`<p class="dim">Nothing is recorded.</p>`}</section>`;
}
