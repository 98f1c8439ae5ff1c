import { useRef, useState } from 'preact/hooks';
import { html, Action, Ago, Badge, Dialog, Empty, Field, Loaded, Problem, State, bytes, confirmed, toast, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const LOG_LINES = 2000;

/** Runs a request that streams its progress, and shows the log. */
function Streamed({ title, fields, start, onClose, onDone }) {
  const [lines, setLines] = useState([]);
  const [state, setState] = useState({ name: 'form' });
  const abort = useRef(null);
  const run = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.target));
    abort.current = new AbortController();
    setState({ name: 'running' });
    setLines([]);
    try {
      let problem = null;
      const response = await start(values, abort.current.signal);
      await api.followResponse(response, (type, data) => {
        if (type === 'problem') problem = new api.ApiError(data.status ?? 500, data);
        else setLines((before) => [...before, data.line ?? data.text ?? data.doing ?? data.name ?? JSON.stringify(data)].slice(-LOG_LINES));
      });
      if (problem) throw problem;
      setState({ name: 'done' });
      toast('The image is ready');
      onDone();
    } catch (error) {
      setState({ name: 'failed', error });
    }
  };
  const close = () => { abort.current?.abort(); onClose(); };
  return html`
    <${Dialog} title=${title} onClose=${close} wide>
      <form onSubmit=${run}>${fields}
        ${state.error && html`<${Problem} error=${state.error} />`}
        ${lines.length > 0 && html`<pre class="output" role="log" tabindex="0" aria-label="Log">${lines.join('\n')}</pre>`}
        <footer><button type="button" onClick=${close}>${state.name === 'running' ? 'Cancel' : 'Close'}</button>
          <button class="primary" disabled=${state.name === 'running'}>${state.name === 'running' ? 'Working' : 'Start'}</button></footer></form>
    <//>`;
}

const stream = (address, body, signal) => api.send('POST', address, { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }, signal });

const RECIPE = '{\n  "base": "debian:bookworm",\n  "packages": ["python3"],\n  "steps": [{"run": "python3 --version"}]\n}';

function Pull(props) {
  return html`<${Streamed} title="Add an image" ...${props}
    start=${(form, signal) => stream(api.path('images'), { name: form.name, source: form.source }, signal)}
    fields=${html`<${Field} label="Name">${(id) => html`<input id=${id} name="name" required autofocus />`}<//>
      <${Field} label="Source" hint="such as docker://docker.io/library/debian:bookworm">${(id) => html`<input id=${id} name="source" required />`}<//>`} />`;
}

function Build(props) {
  return html`<${Streamed} title="Build an image" ...${props}
    start=${(form, signal) => stream(api.imagePath(form.name, 'builds'), { recipe: JSON.parse(form.recipe), replace: form.replace === 'on' }, signal)}
    fields=${html`<${Field} label="Name">${(id) => html`<input id=${id} name="name" required autofocus />`}<//>
      <${Field} label="Recipe" hint="JSON; docs/templates.md explains every field">${(id) => html`<textarea id=${id} name="recipe" class="code" rows="9" required>${RECIPE}</textarea>`}<//>
      <label class="check"><input type="checkbox" name="replace" /> Replace an image of this name</label>`} />`;
}

/** The log of a template's build, from its beginning. */
function BuildLog({ template, build, onClose }) {
  const [lines, setLines] = useState([]);
  const [end, setEnd] = useState('');
  const closer = useRef(null);
  closer.current ??= api.follow(api.path('templates', template, 'builds', build, 'log'), {
    line: (data) => setLines((before) => [...before, data.line ?? data.text ?? ''].slice(-LOG_LINES)),
    result: () => { setEnd('ready'); closer.current(); },
    error: (data) => { setEnd(data.detail ?? 'failed'); closer.current(); },
  });
  const close = () => { closer.current(); onClose(); };
  return html`<${Dialog} title=${`Build of ${template}`} onClose=${close} wide>
    <pre class="output" role="log" tabindex="0" aria-label="Build log">${lines.join('\n')}</pre><p role="status">${end || 'following'}</p><//>`;
}

/** Of a folder on the server its name is enough; the title has the whole path. */
const shortSource = (source) => (source?.startsWith('/') ? `…/${source.split('/').filter(Boolean).at(-1) ?? ''}` : source);

export function Images() {
  const images = useLoad(() => api.get(api.path('images')), []);
  const templates = useLoad(() => api.get(api.path('templates')), []);
  const [open, setOpen] = useState(null);
  const [log, setLog] = useState(null);
  const admin = store.can('admin');
  const erase = (what, address, reload) => async () => {
    if (await confirmed(`${what} will be removed. Sandboxes that use it keep it from being removed.`, 'Remove')) {
      await api.remove(address);
      reload();
    }
  };
  const Form = { pull: Pull, build: Build }[open];
  return html`
    <div class="title"><h1>Images and templates</h1>${admin && html`<div class="actions"><button onClick=${() => setOpen('pull')}>Add an image</button><button class="primary" onClick=${() => setOpen('build')}>Build an image</button></div>`}</div>
    <section class="card"><h2>Images</h2>
      <${Loaded} of=${images}>${({ images: list }) => (list.length === 0 ? html`<${Empty} title="No image">Without an image, a sandbox starts from the files of the host or of its provider.<//>`
        : html`<div class="scroll-x" tabindex="0" role="region" aria-label="Images"><table><thead><tr><th scope="col">Name</th><th scope="col">Source</th><th scope="col">Size</th><th scope="col">Files</th><th scope="col">Architecture</th><th scope="col">Created</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
          <tbody>${list.map((one) => html`<tr key=${one.name}><td><strong>${one.name}</strong></td><td><span class="clip" title=${one.source}>${shortSource(one.source)}</span></td><td>${bytes(one.size)}</td><td>${one.files}</td><td>${one.architecture}</td><td><${Ago} at=${one.createdAt} /></td>
            <td>${admin && html`<${Action} kind="small" run=${erase(one.name, api.imagePath(one.name), images.reload)}>Remove<//>`}</td></tr>`)}</tbody></table></div>`)}<//></section>
    <section class="card"><h2>Templates</h2>
      <${Loaded} of=${templates}>${({ templates: list }) => (list.length === 0 ? html`<p class="dim">No template. <code>isola template build</code> and E2B's SDK create them.</p>`
        : html`<table><thead><tr><th scope="col">Name</th><th scope="col">Image</th><th scope="col">Build</th><th scope="col">Updated</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
          <tbody>${list.map((one) => html`<tr key=${one.id}><td><strong>${one.name}</strong></td><td>${one.image ?? html`<${Badge}>none yet<//>`}</td>
            <td>${admin ? html`<button class="small" onClick=${() => setLog({ template: one.name, build: one.build })}>Log</button>` : html`<${State} value=${one.image ? 'ready' : 'waiting'} />`}</td><td><${Ago} at=${one.updatedAt} /></td>
            <td>${admin && html`<${Action} kind="small" run=${erase(one.name, api.path('templates', one.name), templates.reload)}>Remove<//>`}</td></tr>`)}</tbody></table>`)}<//></section>
    ${Form && html`<${Form} onClose=${() => setOpen(null)} onDone=${images.reload} />`}
    ${log && html`<${BuildLog} ...${log} onClose=${() => setLog(null)} />`}`;
}
