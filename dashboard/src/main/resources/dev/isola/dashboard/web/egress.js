import { useEffect } from 'preact/hooks';
import { html, Action, Ago, Empty, Loaded, Pairs, State, bytes, clock, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const ruleText = (rule) => [
  rule.allow ?? rule.deny, rule.ports?.length ? `ports ${rule.ports.join(', ')}` : '',
  rule.http?.length ? `${rule.http.length} HTTP rules` : ''].filter(Boolean).join(' · ');

export function Egress({ sandbox, id }) {
  const filtered = sandbox.spec.network?.mode === 'filtered';
  const report = useLoad(() => (filtered ? api.get(api.sandboxPath(id, 'egress')) : Promise.resolve(null)), [id, sandbox.state]);
  useEffect(() => store.onEvent((event) => {
    if (event.sandbox === id && event.type.startsWith('egress')) report.reload();
  }), [id]);
  if (!filtered) {
    return html`<${Empty} title=${`Network mode ${sandbox.spec.network?.mode ?? 'of the provider'}`}>
      Only sandboxes created with network mode filtered have rules and a record of connections.<//>`;
  }
  const allow = (denial) => async () => {
    await api.post(api.sandboxPath(id, 'egress', 'allow'), { allow: denial.host, ports: [denial.port] });
    report.reload();
  };
  return html`
    <${Loaded} of=${report}>${(data) => html`
      <div class="grid">
        <section class="card"><h2>Denied</h2>
          ${data.recentDenials.length === 0 ? html`<p class="dim">Nothing was denied.</p>` : html`
            <table><thead><tr><th scope="col">Time</th><th scope="col">Host</th><th scope="col">Reason</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
              <tbody>${data.recentDenials.map((one, index) => html`<tr key=${index}><td>${clock(one.at)}</td><td>${one.host}:${one.port} ${one.request && html`<code class="clip">${one.request}</code>`}</td>
                <td>${one.reason}</td><td><${Action} kind="small" run=${allow(one)} done=${`${one.host} is allowed`}>Allow this host<//></td></tr>`)}</tbody></table>`}</section>
        <section class="card"><h2>Allowed</h2>
          ${data.connections.length + data.recentConnections.length === 0 ? html`<p class="dim">No connection yet.</p>` : html`
            <table><thead><tr><th scope="col">Opened</th><th scope="col">Host</th><th scope="col">Sent</th><th scope="col">Received</th></tr></thead>
              <tbody>${[...data.connections, ...data.recentConnections].slice(0, 100).map((one, index) => html`<tr key=${index}>
                <td><${Ago} at=${one.openedAt} /></td><td>${one.host}:${one.port} ${!one.closedAt && html`<${State} value="running" />`}</td><td>${bytes(one.sentBytes)}</td><td>${bytes(one.receivedBytes)}</td></tr>`)}</tbody></table>`}</section>
        <section class="card"><h2>Rules</h2>
          <p>Hosts that no rule names: <${State} value=${data.default === 'allow' ? 'allowed' : 'denied'} /></p>
          <ul class="plain-list">${data.rules.map((one, index) => html`<li key=${index}><${State} value=${one.allow ? 'allowed' : 'denied'} /> ${ruleText(one)}</li>`)}</ul></section>
        <section class="card"><h2>Traffic</h2><${Pairs} of=${[['Connections', data.totalConnections], ['Denials', data.totalDenials], ['Sent', bytes(data.sentBytes)], ['Received', bytes(data.receivedBytes)]]} /></section>
      </div>`}<//>`;
}
