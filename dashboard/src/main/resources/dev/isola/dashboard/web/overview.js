import { html, Ago, Empty, Spinner, State, clock } from './ui.js';
import { Chart } from './chart.js';
import * as store from './store.js';

const Tile = ({ label, value, href, kind, note }) => html`
  <a class="tile ${kind ?? ''}" href=${href}><span class="value">${value ?? '–'}</span><span>${label}</span>
    ${note && html`<span class="dim">${note}</span>`}</a>`;

const ms = (value) => (value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`);

function Health() {
  const sample = store.stats.value.latest;
  return html`
    <section class="card"><h2>Providers</h2>
      <ul class="plain-list">${(sample?.providers ?? []).map((one) => html`
        <li key=${one.name}><a href=${`#/providers?name=${encodeURIComponent(one.name)}`}>${one.name}</a> <${State} value=${one.status} />
          ${one.reason && html`<span class="dim clip" title=${one.reason}>${one.reason}</span>`}
          <${History} changes=${store.stats.value.health[one.name]} /></li>`)}</ul></section>`;
}

function History({ changes }) {
  if (!changes || changes.length < 2) return null;
  return html`<span class="history" role="img" aria-label=${`${changes.length - 1} changes of health`}>
    ${changes.slice(-12).map((one, index) => html`<i key=${index} class=${one.status} title=${`${one.status} at ${clock(one.at)}`}></i>`)}</span>`;
}

function Recent() {
  const recent = store.events.value.filter((one) => one.type !== 'egressConnection').slice(0, 12);
  return html`
    <section class="card"><h2>Latest events</h2>
      ${recent.length === 0 ? html`<p class="dim">Events appear here as they happen. <a href="#/events">All events</a></p>` : html`
        <ul class="plain-list">${recent.map((one) => html`
          <li key=${one.number}><time class="dim">${clock(one.at)}</time> <strong>${one.type}</strong>
            ${one.sandbox && html` <a href=${`#/sandboxes/${one.sandbox}`}>${store.sandboxes.value.get(one.sandbox)?.name ?? one.sandbox}</a>`}
            <span class="dim clip"> ${one.data?.to ?? one.data?.host ?? ''} ${one.data?.cause ?? ''}</span></li>`)}</ul>`}
    </section>`;
}

function Expiring() {
  const soon = store.newestFirst.value.filter(store.isExpiring)
    .sort((a, b) => Date.parse(a.expiresAt) - Date.parse(b.expiresAt)).slice(0, 8);
  if (soon.length === 0) return null;
  return html`
    <section class="card"><h2>Expiring</h2>
      <ul class="plain-list">${soon.map((one) => html`
        <li key=${one.id}><a href=${`#/sandboxes/${one.id}`}>${one.name ?? one.id}</a> <${Ago} at=${one.expiresAt} /></li>`)}</ul></section>`;
}

/** What is promised to sandboxes, of what the operator allows. */
export function Quota() {
  const limits = store.stats.value.latest?.limits;
  if (!limits) return null;
  const row = (label, one, unit) => one && html`
    <div key=${label} class="quota"><span>${label}</span>
      ${one.max ? html`<meter min="0" max=${one.max} high=${one.max * 0.9} value=${one.used} aria-label=${label}></meter>` : html`<span></span>`}
      <span>${one.used.toLocaleString()}${one.max ? ` of ${one.max.toLocaleString()}` : ''}${unit && ` ${unit}`}${one.max ? '' : ', no limit'}</span></div>`;
  return html`
    <section class="card"><h2>Quotas</h2>${row('Memory', limits.memoryMb, 'MiB')}${row('Processors', limits.cpu, '')}
      <div class="quota"><span>Waiting requests</span><span></span><span>${limits.waiting ?? 0}</span></div></section>`;
}

function Tiles() {
  const counts = store.counts.value;
  const count = (...states) => states.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
  const sample = store.stats.value.latest;
  const soon = store.newestFirst.value.filter(store.isExpiring).length;
  return html`
    <div class="tiles">
      <${Tile} label="running" value=${count('running')} href="#/sandboxes?state=running" kind="good" />
      <${Tile} label="warm" value=${sample?.warm?.ready} href="#/providers" note=${sample?.warm?.target ? `of ${sample.warm.target}` : ''} />
      <${Tile} label="suspended" value=${count('paused', 'stopped')} href="#/sandboxes?state=suspended" />
      <${Tile} label="failed" value=${count('error')} href="#/sandboxes?state=error" kind=${count('error') ? 'bad' : ''} />
      <${Tile} label="expiring in 10 min" value=${soon} href="#/sandboxes?state=expiring" />
      <${Tile} label="fallbacks" value=${sample?.fallbacks} href="#/events?type=error" />
      <${Tile} label="egress denials" value=${sample?.egressDenials} href="#/events?type=egressDenied" />
    </div>
    ${store.sandboxes.value.size === 0 && store.can('use') && html`
      <${Empty} title="No sandbox yet">A sandbox runs commands that you do not trust. <a class="button primary" href="#/sandboxes?create=1">Create a sandbox</a><//>`}`;
}

/** Follows the samples of the server, not the events, so that it is drawn when there is something new to draw. */
function Charts() {
  const samples = store.stats.value.samples;
  const times = samples.map((one) => Date.parse(one.at) / 1000);
  const column = (read) => samples.map((one) => read(one) ?? null);
  return samples.length > 1 && html`
    <div class="grid">
      <section class="card"><${Chart} title="Sandboxes" times=${times} format=${(v) => String(Math.round(v))} series=${[
        { label: 'running', values: column((one) => one.sandboxes?.running ?? 0) },
        { label: 'suspended', values: column((one) => (one.sandboxes?.paused ?? 0) + (one.sandboxes?.stopped ?? 0)) }]} /></section>
      <section class="card"><${Chart} title="Created in a minute" times=${times} format=${(v) => (Number.isInteger(v) ? String(v) : v.toFixed(1))} series=${[
        { label: 'created', values: column((one) => one.createsPerMinute) }]} /></section>
      <section class="card"><${Chart} title="Time to create" times=${times} format=${ms} series=${[
        { label: 'median', values: column((one) => one.createMs?.p50) }, { label: '95 %', values: column((one) => one.createMs?.p95) },
        { label: '99 %', values: column((one) => one.createMs?.p99) }]} /></section>
      <section class="card"><${Chart} title="Requests in a second" times=${times} format=${(v) => (v >= 10 ? String(Math.round(v)) : v.toFixed(1))} series=${[
        { label: 'requests', values: column((one) => one.requestsPerSecond) }]} /></section>
    </div>`;
}

export function Overview() {
  if (store.sandboxesState.value.loading) return html`<${Spinner} label="Loading the overview" />`;
  return html`
    <h1>Overview</h1><${Tiles} /><${Charts} />
    <div class="grid"><${Health} /><${Quota} /><${Recent} /><${Expiring} /></div>`;
}
