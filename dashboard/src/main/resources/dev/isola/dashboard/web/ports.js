import { useState } from 'preact/hooks';
import { html, Action, Badge, Copy, Field, Loaded, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const LINK_SECONDS = 3600;

/** Opens a port in a frame. The link sets a cookie on the preview's own origin. */
export function Ports({ id }) {
  const list = useLoad(() => api.get(api.sandboxPath(id, 'ports')), [id]);
  const [port, setPort] = useState('');
  const [preview, setPreview] = useState(null);
  const [details, setDetails] = useState(null);
  const writable = store.can('use') && !store.sharedSandbox.value;
  const show = async (number) => {
    const [described, link] = await Promise.all([
      api.get(api.sandboxPath(id, 'ports', String(number))),
      api.post(api.sandboxPath(id, 'ports', String(number), 'link'), { ttlSeconds: LINK_SECONDS }),
    ]);
    setDetails(described);
    setPreview({ url: link.url, number, turn: Date.now() });
  };
  const publish = async (number, on) => {
    setDetails(await api.put(api.sandboxPath(id, 'ports', String(number)), { public: on }));
    list.reload();
  };
  return html`
    <section class="card"><h2>Ports</h2>
      <${Loaded} of=${list}>${({ ports }) => html`<ul class="plain-list">${ports.map((one) => html`
        <li key=${one.port}><strong>${one.port}</strong> ${one.public && html`<${Badge} kind="warn">public<//>`} <a href=${one.url} target="_blank" rel="noopener noreferrer">${one.url}</a>
          ${writable && html`<${Action} kind="small" run=${() => show(one.port)}>Preview<//>`}</li>`)}</ul>
        ${ports.length === 0 && html`<p class="dim">Any port on which a process in the sandbox listens can be previewed.</p>`}`}<//>
      ${writable && html`<form class="toolbar" onSubmit=${(event) => event.preventDefault()}>
        <${Field} label="Port">${(field) => html`<input id=${field} type="number" min="1" max="65535" value=${port} placeholder="8000" onInput=${(event) => setPort(event.target.value)} />`}<//>
        <${Action} kind="primary" run=${() => show(Number(port))} disabled=${!port}>Preview<//></form>`}</section>
    ${preview && html`
      <section class="card"><div class="title"><h2>Port ${preview.number}</h2>
          <div class="actions">
            ${details && !details.public && html`<${Action} run=${() => publish(preview.number, true)} title="Anyone who reaches the server sees it, without a key">Make public<//>`}
            ${details?.public && html`<${Action} run=${() => publish(preview.number, false)}>Make private<//>`}
            <a class="button" href=${preview.url} target="_blank" rel="noopener noreferrer">Open in a tab</a><${Copy} text=${preview.url} label="Copy the link" />
            <${Action} run=${() => show(preview.number)}>Reload<//></div></div>
        ${details && details.listening === false && html`<p class="notice">No process listens on port ${preview.number} yet.</p>`}
        <iframe class="preview" key=${preview.turn} src=${preview.url} title=${`Preview of port ${preview.number}`}
          sandbox="allow-scripts allow-forms allow-popups allow-same-origin" referrerpolicy="no-referrer"></iframe></section>`}`;
}
