import { useState } from 'preact/hooks';
import { html, Action, Ago, Badge, Copy, Loaded, Pairs, State, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';
import { SetupWizard } from './setup.js';

const CAPABILITIES = [
  'terminals', 'watching', 'pausing', 'snapshotting', 'forking', 'memory-forking', 'volumes', 'port-dialing', 'usage-reporting', 'renewing', 'attaching',
];

function Matrix({ providers }) {
  return html`
    <section class="card"><h2>Capabilities</h2>
      <div class="scroll-x" tabindex="0" role="region" aria-label="Capabilities of providers"><table class="matrix"><thead><tr><th scope="col">Provider</th><th scope="col">Isolation</th>${CAPABILITIES.map((one) => html`<th scope="col" key=${one}>${one}</th>`)}<th scope="col">Networks</th></tr></thead>
        <tbody>${providers.map((one) => html`<tr key=${one.name}><th scope="row">${one.name}</th><td>${one.isolation ?? ''}</td>
          ${CAPABILITIES.map((name) => html`<td key=${name} class=${one.capabilities?.includes(name) ? 'yes' : 'no'}>${one.capabilities?.includes(name) ? 'yes' : html`<span class="dim">no</span>`}</td>`)}
          <td>${one.networks?.join(', ') ?? ''}</td></tr>`)}</tbody></table></div></section>`;
}

/** What is missing on this machine; done steps come last. */
function SetUp({ setup, onOpen }) {
  const open = setup.steps.filter((one) => !one.done);
  const done = setup.steps.filter((one) => one.done);
  return html`
    <section class="card"><h2>Set up this machine</h2>
      <p>${setup.ready ? html`<${Badge} kind="good">ready<//> Sandboxes can be created with ${setup.providers.join(', ')}.` : html`<${Badge} kind="bad">not ready<//> No provider works yet.`}</p>
      ${onOpen && html`<p><button class="primary" onClick=${onOpen}>Set up step by step</button></p>`}
      ${open.length === 0 ? html`<p class="dim">Nothing is left to do.</p>` : html`<details><summary>${open.length} not done</summary>
        <ol class="steps">${open.map((one) => html`<li key=${one.name}><strong>${one.name}</strong><p>${one.detail}</p>
          ${one.fix && html`<p class="fix"><code>${one.fix}</code> <${Copy} text=${one.fix} /></p>`}</li>`)}</ol></details>`}
      <details><summary>${done.length} done</summary><ul class="plain-list">${done.map((one) => html`<li key=${one.name}><${Badge} kind="good">done<//> ${one.name} <span class="dim">${one.detail}</span></li>`)}</ul></details></section>`;
}

function Card({ provider, open }) {
  const figures = provider.resources ? `${provider.resources.processors} processors, ${provider.resources.memoryMb} MiB` : '';
  return html`
    <section class="card" id=${`provider-${provider.name}`}><div class="title"><h2>${provider.name}</h2><${State} value=${provider.status} /></div>
      ${provider.summary && html`<p>${provider.summary}</p>`}
      ${provider.reason && html`<p class="notice">${provider.reason}${provider.fix && html`<br /><strong>${provider.fix}</strong>`}</p>`}
      <${Pairs} of=${[['Isolation', provider.isolation], ['Sandboxes', provider.active], ['Checked', html`<${Ago} at=${provider.lastCheck} />`], ['Host', figures],
        ['Start', provider.startupMs === undefined ? '' : `about ${provider.startupMs} ms`], ['Limits', provider.enforcedLimits?.join(', ')]]} />
      ${provider.requirements?.length > 0 && html`<details open=${open || provider.status === 'unhealthy'}><summary>Requirements</summary><ul class="plain-list">${provider.requirements.map((one) => html`
        <li key=${one.name}><${Badge} kind=${one.present ? 'good' : one.necessary ? 'bad' : 'warn'}>${one.present ? 'present' : one.necessary ? 'missing' : 'optional'}<//> ${one.name}
          <span class="dim"> ${one.detail}</span>${!one.present && one.fix && html`<p class="fix"><code>${one.fix}</code> <${Copy} text=${one.fix} /></p>`}</li>`)}</ul></details>`}</section>`;
}

export function Providers({ search }) {
  const providers = useLoad(() => api.get(api.path('providers')), []);
  const setup = useLoad(() => api.get('/api/sandbox/setup'), []);
  const pool = useLoad(() => api.get(api.path('pool')), []);
  const [wizard, setWizard] = useState(false);
  const named = search.get('name');
  const reload = () => { providers.reload(); setup.reload(); pool.reload(); };
  const check = async () => {
    await api.post(api.path('providers', 'check'));
    reload();
  };
  return html`
    <div class="title"><h1>Providers</h1>${store.can('use') && html`<${Action} run=${check}>Check again<//>`}</div>
    <${Loaded} of=${setup}>${(data) => html`<${SetUp} setup=${data} onOpen=${store.can('use') && providers.data ? () => setWizard(true) : null} />`}<//>
    <${Loaded} of=${providers}>${({ providers: list }) => html`
      <div class="grid">${[...list].sort((a, b) => (b.name === named) - (a.name === named)).map((one) => html`<${Card} key=${one.name} provider=${one} open=${one.name === named} />`)}</div>
      <${Matrix} providers=${list} />`}<//>
    <${Loaded} of=${pool}>${(data) => html`<section class="card"><h2>Warm pool</h2><${Pairs} of=${[['Ready', `${data.ready} of ${data.size}`], ['Hits', data.hits],
      ['Misses', Object.entries(data.misses).map(([why, count]) => `${why} ${count}`).join(', ') || '0']]} /></section>`}<//>
    ${wizard && html`<${SetupWizard} providers=${providers.data.providers} onChange=${reload} onClose=${() => setWizard(false)} />`}`;
}
