import { useEffect, useRef, useState } from 'preact/hooks';
import { html, Action, Ago, Dialog, Empty, Field, Icon, Loaded, Problem, Spinner, attempt, bytes, confirmed, toast, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const EDIT_LIMIT = 1024 * 1024;
const PREVIEW_LIMIT = 20 * 1024 * 1024;
const PICTURES = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif', bmp: 'image/bmp', ico: 'image/x-icon' };

const extension = (name) => name.slice(name.lastIndexOf('.') + 1).toLowerCase();
const join = (folder, name) => `${folder === '/' ? '' : folder}/${name}`;
const parent = (path) => path.slice(0, path.lastIndexOf('/')) || '/';
const content = (id, path) => api.query(api.sandboxPath(id, 'files', 'content'), { path });

function Crumbs({ path, go }) {
  const parts = path.split('/').filter(Boolean);
  return html`
    <nav class="crumbs" aria-label="Folder"><a href=${go('/')}>/</a>
      ${parts.map((one, index) => html`<a key=${index} href=${go(`/${parts.slice(0, index + 1).join('/')}`)}>${one}</a>`)}</nav>`;
}

/** Shows a file: a picture, a PDF, or text that can be edited. */
function Preview({ id, file, onClose, onSaved }) {
  const [state, setState] = useState({ loading: true });
  const [text, setText] = useState('');
  useEffect(() => {
    let address;
    const abort = new AbortController();
    (async () => {
      const type = PICTURES[extension(file.name)] ?? (extension(file.name) === 'pdf' ? 'application/pdf' : '');
      if (file.size > (type ? PREVIEW_LIMIT : EDIT_LIMIT)) {
        setState({ large: true });
        return;
      }
      const response = await api.send('GET', content(id, file.path), { signal: abort.signal });
      const data = await response.arrayBuffer();
      if (type) {
        // The type is ours, never one that the sandbox chose: a blob has the origin of this page.
        address = URL.createObjectURL(new Blob([data], { type }));
        setState({ type, address });
        return;
      }
      try {
        const decoded = new TextDecoder('utf-8', { fatal: true }).decode(data);
        setText(decoded);
        setState({ text: decoded });
      } catch {
        setState({ binary: true });
      }
    })().catch((error) => error.name !== 'AbortError' && setState({ error }));
    return () => { abort.abort(); if (address) URL.revokeObjectURL(address); };
  }, [file.path]);
  const save = async () => {
    await api.send('PUT', content(id, file.path), { body: text, headers: { 'Content-Type': 'application/octet-stream' } });
    toast(`${file.name} is saved`);
    onSaved();
  };
  return html`
    <${Dialog} title=${file.path} onClose=${onClose} wide>
      ${state.loading && html`<${Spinner} />`}
      ${state.error && html`<${Problem} error=${state.error} />`}
      ${state.large && html`<p>The file has ${bytes(file.size)}, too much to show here. Download it instead.</p>`}
      ${state.binary && html`<p>The file is not text. Download it to look at it.</p>`}
      ${state.address && state.type !== 'application/pdf' && html`<img class="picture" src=${state.address} alt=${file.name} />`}
      ${state.address && state.type === 'application/pdf' && html`<iframe class="paper" src=${state.address} title=${file.name}></iframe>`}
      ${state.text !== undefined && html`<textarea class="editor" aria-label=${`Content of ${file.name}`} spellcheck="false" value=${text}
        readonly=${!store.can('use')} onInput=${(event) => setText(event.target.value)}></textarea>`}
      <footer><a class="button" href=${content(id, file.path)} download=${file.name}>Download</a>
        ${state.text !== undefined && store.can('use') && html`<${Action} kind="primary" run=${save} disabled=${text === state.text}>Save<//>`}</footer>
    <//>`;
}

/** What changed in the sandbox since a snapshot; its files of now are a snapshot for a moment. */
function Difference({ id, onClose }) {
  const snapshots = useLoad(() => api.get(api.query(api.path('snapshots'), { sandbox: id })), [id]);
  const [chosen, setChosen] = useState('');
  const [result, setResult] = useState(null);
  const compare = async () => {
    const now = await api.post(api.sandboxPath(id, 'snapshots'), {});
    try {
      setResult(await api.get(api.query(api.path('snapshots', chosen, 'diff'), { to: now.id })));
    } finally {
      await api.remove(api.path('snapshots', now.id));
    }
  };
  return html`
    <${Dialog} title="Compare with a snapshot" onClose=${onClose} wide>
      <${Loaded} of=${snapshots}>${({ snapshots: list }) => (list.length === 0 ? html`<p>There is no snapshot of this sandbox yet.</p>` : html`
        <${Field} label="Snapshot">${(field) => html`<select id=${field} value=${chosen} onChange=${(event) => setChosen(event.target.value)}>
          <option value="">choose one</option>${[...list].reverse().map((one) => html`<option key=${one.id} value=${one.id}>${new Date(one.createdAt).toLocaleString()} · ${one.id}</option>`)}</select>`}<//>
        <${Action} kind="primary" run=${compare} disabled=${!chosen}>Compare<//>`)}<//>
      ${result && html`<div class="diff">
        ${[['added', '+'], ['changed', '~'], ['removed', '−']].map(([kind, sign]) => html`<section key=${kind}><h3>${kind} (${result[kind].length})</h3>
          <ul class="plain-list">${result[kind].slice(0, 500).map((one) => html`<li key=${one} class=${kind}><code>${sign} ${one}</code></li>`)}</ul></section>`)}</div>`}
    <//>`;
}

async function upload(id, folder, files, onProgress) {
  for (const [index, file] of [...files].entries()) {
    onProgress(`${file.name} (${index + 1} of ${files.length})`);
    await api.send('PUT', content(id, join(folder, file.name)), { body: file, headers: { 'Content-Type': 'application/octet-stream' } });
  }
}

export function Files({ sandbox, id, search }) {
  const path = search.get('path') ?? sandbox.spec.workspaceMount ?? '/';
  const go = (to) => `#${api.query(`/sandboxes/${id}/files`, { path: to })}`;
  const gone = ['terminating', 'destroyed'].includes(sandbox.state);
  const list = useLoad(
    (signal) => (gone ? Promise.resolve({ entries: [] }) : api.get(api.query(api.sandboxPath(id, 'files'), { path }), { signal })),
    [id, path, sandbox.state]);
  const [file, setFile] = useState(null);
  const [naming, setNaming] = useState(null);
  const [comparing, setComparing] = useState(false);
  const [dragging, setDragging] = useState(false);
  const [progress, setProgress] = useState('');
  const chooser = useRef(null);
  const writable = store.can('use');

  useEffect(() => {
    if (sandbox.state !== 'running') return undefined;
    let timer;
    const close = api.follow(api.query(api.sandboxPath(id, 'watch'), { path }), {
      change: () => { clearTimeout(timer); timer = setTimeout(list.reload, 300); },
    });
    return () => { clearTimeout(timer); close(); };
  }, [id, path, sandbox.state]);

  const send = (files) => attempt(async () => {
    try {
      await upload(id, path, files, setProgress);
    } finally {
      setProgress('');
      list.reload();
    }
  }, files.length === 1 ? `${files[0].name} is uploaded` : `${files.length} files are uploaded`);
  const drop = (event) => {
    event.preventDefault();
    setDragging(false);
    if (writable && event.dataTransfer.files.length) send(event.dataTransfer.files);
  };
  const erase = async (one) => {
    if (await confirmed(`${one.path} will be removed${one.type === 'folder' ? ' with all it contains' : ''}.`, 'Remove')) {
      await api.remove(api.query(api.sandboxPath(id, 'files'), { path: one.path, recursive: one.type === 'folder' ? true : undefined }));
      list.reload();
    }
  };
  return html`
    <div class="toolbar"><${Crumbs} path=${path} go=${go} />
      ${writable && html`
        <button onClick=${() => chooser.current.click()}>Upload</button>
        <input type="file" multiple hidden ref=${chooser} aria-label="Files to upload" onChange=${(event) => { send(event.target.files); }} />
        <button onClick=${() => setNaming({ kind: 'file' })}>New file</button>
        <button onClick=${() => setNaming({ kind: 'folder' })}>New folder</button>`}
      ${writable && !store.sharedSandbox.value && html`<button onClick=${() => setComparing(true)}>Compare</button>`}
      <a class="button" href=${api.query(api.sandboxPath(id, 'files', 'tree'), { path })} download="files.tar">Download as tar</a>
      <span class="dim" role="status">${progress && `Uploading ${progress}`}</span></div>
    <div class="drop ${dragging ? 'over' : ''}" onDragOver=${(event) => { event.preventDefault(); setDragging(writable); }} onDragLeave=${() => setDragging(false)} onDrop=${drop}>
      <${Loaded} of=${list}>${({ entries, truncated }) => html`
        <table class="files"><thead><tr><th scope="col">Name</th><th scope="col">Size</th><th scope="col" class="wide-only">Mode</th><th scope="col" class="wide-only">Owner</th><th scope="col" class="wide-only">Changed</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
          <tbody>
            ${path !== '/' && html`<tr><td><a href=${go(parent(path))}><${Icon} name="folder" /> ..</a></td><td></td><td class="wide-only"></td><td class="wide-only"></td><td class="wide-only"></td><td></td></tr>`}
            ${[...entries].sort((a, b) => (b.type === 'folder') - (a.type === 'folder') || a.name.localeCompare(b.name)).map((one) => html`
              <tr key=${one.path}>
                <td>${one.type === 'folder' ? html`<a href=${go(one.path)}><${Icon} name="folder" /> ${one.name}</a>`
                  : html`<button class="plain as-link" onClick=${() => setFile(one)}><${Icon} name=${one.type === 'link' ? 'link' : 'file'} /> ${one.name}${one.linkTarget ? html` <span class="dim">→ ${one.linkTarget}</span>` : ''}</button>`}</td>
                <td>${one.type === 'file' ? bytes(one.size) : ''}</td><td class="wide-only"><code>${one.mode}</code></td><td class="wide-only">${one.owner}</td><td class="wide-only"><${Ago} at=${one.modifiedAt} /></td>
                <td class="row-actions">${writable && html`<button class="small" onClick=${() => setNaming({ kind: 'move', from: one.path, name: one.name })}>Rename</button>
                  <${Action} kind="small" run=${() => erase(one)}>Remove<//>`}</td></tr>`)}
          </tbody></table>
        ${entries.length === 0 && html`<${Empty} title="Nothing here">${writable ? 'Drop files here, or create one.' : 'The folder is empty.'}<//>`}
        ${truncated && html`<p class="notice">The folder has more entries than are shown.</p>`}`}<//>
    </div>
    ${file && html`<${Preview} id=${id} file=${file} onClose=${() => setFile(null)} onSaved=${() => { setFile(null); list.reload(); }} />`}
    ${comparing && html`<${Difference} id=${id} onClose=${() => setComparing(false)} />`}
    ${naming && html`<${Naming} id=${id} folder=${path} task=${naming} onClose=${() => setNaming(null)} onDone=${() => { setNaming(null); list.reload(); }} />`}`;
}

function Naming({ id, folder, task, onClose, onDone }) {
  const [name, setName] = useState(task.name ?? '');
  const title = { file: 'New file', folder: 'New folder', move: 'Rename' }[task.kind];
  const run = async () => {
    const to = name.startsWith('/') ? name : join(folder, name);
    if (task.kind === 'file') await api.send('PUT', api.query(api.sandboxPath(id, 'files', 'content'), { path: to, exclusive: true }), { body: '', headers: { 'Content-Type': 'application/octet-stream' } });
    else if (task.kind === 'folder') await api.post(api.sandboxPath(id, 'files', 'folder'), { path: to });
    else await api.post(api.sandboxPath(id, 'files', 'move'), { from: task.from, to });
    onDone();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form onSubmit=${(event) => { event.preventDefault(); attempt(run); }}>
        <${Field} label="Name">${(field) => html`<input id=${field} autofocus value=${name} onInput=${(event) => setName(event.target.value)} />`}<//>
        <footer><button type="button" onClick=${onClose}>Cancel</button><button class="primary" disabled=${!name.trim()}>${title}</button></footer></form>
    <//>`;
}
