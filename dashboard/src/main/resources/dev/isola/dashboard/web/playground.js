import { useEffect, useRef, useState } from 'preact/hooks';
import { html, Action, Badge, Field, Problem, bytes, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const LANGUAGES = {
  python: { label: 'Python', file: 'main.py', command: 'python3 main.py', code: 'for n in range(1, 6):\n    print(n, n ** 2)\n' },
  node: { label: 'JavaScript', file: 'main.mjs', command: 'node main.mjs', code: 'console.log([1, 2, 3].map((n) => n * n))\n' },
  sh: { label: 'Shell', file: 'main.sh', command: 'sh main.sh', code: 'uname -a\nid\n' },
};
const SHOWN = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' };
const TTL_SECONDS = 900;

/** Pictures that the code wrote, as blobs whose type we choose. */
async function pictures(id, folder, since) {
  const { entries } = await api.get(api.query(api.sandboxPath(id, 'files'), { path: folder }));
  const found = entries.filter((one) => SHOWN[one.name.split('.').pop().toLowerCase()] && Date.parse(one.modifiedAt) >= since && one.size < 5_000_000);
  return Promise.all(found.slice(0, 6).map(async (one) => {
    const response = await api.send('GET', api.query(api.sandboxPath(id, 'files', 'content'), { path: one.path }));
    const type = SHOWN[one.name.split('.').pop().toLowerCase()];
    return { name: one.name, size: one.size, address: URL.createObjectURL(new Blob([await response.arrayBuffer()], { type })) };
  }));
}

export function Playground() {
  const images = useLoad(() => api.get(api.path('images')), []);
  const [image, setImage] = useState('');
  const [language, setLanguage] = useState('python');
  const [code, setCode] = useState(LANGUAGES.python.code);
  const [result, setResult] = useState(null);
  const [error, setError] = useState(null);
  const sandbox = useRef(null);
  const end = () => {
    if (sandbox.current) api.remove(api.query(api.sandboxPath(sandbox.current.id), { force: true })).catch(() => {});
    sandbox.current = null;
  };
  useEffect(() => end, []);
  const choose = (event) => {
    setLanguage(event.target.value);
    setCode(LANGUAGES[event.target.value].code);
  };
  const run = async () => {
    setError(null);
    try {
      if (sandbox.current && !store.sandboxes.value.has(sandbox.current.id)) sandbox.current = null;
      if (sandbox.current && sandbox.current.image !== image) end();
      if (!sandbox.current) {
        const created = await api.post(api.path('sandboxes'), { ...(image ? { image } : {}), ttlSeconds: TTL_SECONDS, tags: { for: 'playground' } });
        store.putSandbox(created);
        sandbox.current = { id: created.id, image, folder: created.spec.workspaceMount ?? '/workspace' };
      }
      const { id, folder } = sandbox.current;
      const { file, command } = LANGUAGES[language];
      await api.send('PUT', api.query(api.sandboxPath(id, 'files', 'content'), { path: `${folder}/${file}` }), { body: code, headers: { 'Content-Type': 'application/octet-stream' } });
      const since = Date.now() - 2000;
      const done = await api.post(api.sandboxPath(id, 'exec'), { command, cwd: folder, timeoutMs: 60_000 });
      setResult({ ...done, id, pictures: await pictures(id, folder, since) });
    } catch (failure) {
      setError(failure);
      throw failure;
    }
  };
  return html`
    <h1>Playground</h1>
    <p>Runs code in a sandbox of its own, which ends with this page or after ${TTL_SECONDS / 60} minutes.</p>
    <div class="toolbar">
      <${Field} label="Image">${(id) => html`<select id=${id} value=${image} onChange=${(event) => setImage(event.target.value)}><option value="">the default</option>${(images.data?.images ?? []).map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}</select>`}<//>
      <${Field} label="Language">${(id) => html`<select id=${id} value=${language} onChange=${choose}>${Object.entries(LANGUAGES).map(([key, one]) => html`<option key=${key} value=${key}>${one.label}</option>`)}</select>`}<//>
      <${Action} kind="primary" run=${run}>Run<//></div>
    <div class="grid">
      <section class="card"><h2>Code</h2><textarea class="editor" aria-label="Code" spellcheck="false" value=${code} onInput=${(event) => setCode(event.target.value)}></textarea></section>
      <section class="card" aria-live="polite"><h2>Result</h2>
        ${error && html`<${Problem} error=${error} />`}
        ${!result && !error && html`<p class="dim">The output appears here; so do pictures that the code writes into its folder.</p>`}
        ${result && html`<p><${Badge} kind=${result.exitCode === 0 ? 'good' : 'bad'}>exit ${result.exitCode}<//> <span class="dim">${result.durationMs} ms · <a href=${`#/sandboxes/${result.id}`}>${result.id}</a></span></p>
          ${result.stdout && html`<pre class="output">${result.stdout}</pre>`}${result.stderr && html`<pre class="output stderr">${result.stderr}</pre>`}
          ${result.pictures.map((one) => html`<figure key=${one.name}><img class="picture" src=${one.address} alt=${one.name} /><figcaption class="dim">${one.name}, ${bytes(one.size)}</figcaption></figure>`)}`}</section></div>`;
}
