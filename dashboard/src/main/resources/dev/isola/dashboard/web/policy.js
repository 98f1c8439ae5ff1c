import { html, Loaded, useLoad } from './ui.js';
import { Quota } from './overview.js';
import * as api from './api.js';

/** What an operator decides, by the beginning of its keys; the rest follows folded. */
const SECTIONS = [
  { title: 'Which provider', note: 'Requests get no less isolation than the floor, and no provider that is not allowed here.',
    keys: ['provider', 'deployment_mode', 'floor', 'allow_', 'local_microvm_fallback_to_remote'] },
  { title: 'Quotas and limits', note: '0 means no limit. Rates and streams are counted for each key.',
    keys: ['admission.', 'sandbox.ttl', 'server.rate.', 'server.concurrent.', 'server.auth.failures'] },
  { title: 'Egress of filtered sandboxes', note: 'These bounds hold whatever the rules of a sandbox say.',
    keys: ['egress.default', 'egress.deny', 'egress.allow', 'egress.limit_to', 'egress.connections', 'egress.bytes'] },
];
const belongs = (key, keys) => keys.some((one) => (/[._]$/.test(one) ? key.startsWith(one) : key === one || (one.startsWith('egress.') && key.startsWith(`${one}_`))));

const Values = ({ of, label }) => html`
  <div class="scroll-x" tabindex="0" role="region" aria-label=${label}>
    <table><thead><tr><th scope="col">Key</th><th scope="col">Value</th></tr></thead>
      <tbody>${of.map((one) => html`<tr key=${one.key}><td><code>${one.key}</code></td><td>${one.value || html`<span class="dim">none</span>`}
        ${one.from !== 'default' && html` <span class="dim">from ${one.from}</span>`}</td></tr>`)}</tbody></table></div>`;

export function Policy() {
  const config = useLoad(() => api.get(api.path('config')), []);
  return html`
    <h1>Policy and quotas</h1>
    <p class="dim">Set in the configuration file, in the environment or by flags of <code>isola serve</code>; the server reads them when it starts. What is not said to come from there is the default.
      Whether a key is strict is decided under <a href="#/keys">Keys</a>.</p>
    <${Loaded} of=${config}>${({ values }) => html`
      <div class="grid"><${Quota} />
        ${SECTIONS.map(({ title, note, keys }) => html`
          <section key=${title} class="card"><h2>${title}</h2><p class="dim">${note}</p>
            <${Values} label=${title} of=${values.filter((one) => belongs(one.key, keys))} /></section>`)}</div>
      <details class="card"><summary>All other values</summary>
        <${Values} label="All other values" of=${values.filter((one) => !SECTIONS.some(({ keys }) => belongs(one.key, keys)))} /></details>`}<//>`;
}
