import { useEffect, useState } from 'preact/hooks';
import { html, Badge, Dialog, Field, Problem, toast, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';
import { addFields, fieldsOf, pairs } from './fields.js';

/** The fields for which the form has an input of its own. */
const COVERED = new Set([
  'name', 'image', 'provider', 'apiVersion', 'strictNoFallback', 'strict_no_fallback', 'ttlSeconds', 'env', 'tags',
  'resources.cpu', 'resources.memory', 'network.mode', 'network.enabled', 'network.allowDomains', 'require.isolation',
]);

/** The request that a form stands for; what is empty is left to the server. */
export function requestOf(form, others = []) {
  const whole = (text) => (text === '' ? undefined : Number(text));
  const given = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== ''));
  const resources = given({ cpu: whole(form.cpu), memory: whole(form.memory) });
  const network = given({ mode: form.network });
  const require = given({ isolation: form.isolation });
  const object = (value) => (Object.keys(value).length ? value : undefined);
  const domains = form.domains.split(/[\s,]+/).filter(Boolean);
  if (domains.length) network.allowDomains = domains;
  const request = given({
    name: form.name, image: form.image, provider: form.provider,
    ttlSeconds: form.ttl === '' ? undefined : Number(form.ttl) * 60,
    env: object(pairs(form.env)), tags: object(pairs(form.tags)),
    resources: object(resources), network: object(network), require: object(require),
    strictNoFallback: form.strict || undefined,
  });
  return addFields(request, others, form.others);
}

const BLANK = {
  name: '', image: '', provider: '', isolation: '', network: '', domains: '', cpu: '', memory: '', ttl: '', env: '', tags: '', strict: false, others: {},
};

/** Asks the server, a moment after the last change, which provider it would choose. */
function useSelection(form, others) {
  const [state, setState] = useState({});
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { name, ...rest } = requestOf(form, others);
        const answer = await api.post(api.path('selection'), rest, { signal: abort.signal });
        setState({ answer });
      } catch (error) {
        if (error.name !== 'AbortError') setState({ error });
      }
    }, 150);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [JSON.stringify(form)]);
  return state;
}

function Why({ selection }) {
  const { answer, error } = selection;
  if (error) return html`<${Problem} error=${error} />`;
  if (!answer) return html`<p class="dim">The server is asked which provider it would choose.</p>`;
  return html`
    ${answer.chosen ? html`<p><strong>${answer.chosen.provider}</strong> <${Badge} kind="good">${answer.chosen.isolation}<//>
        ${answer.chosen.warm && html`<${Badge}>warm<//>`} <span>${answer.chosen.reason}</span></p>`
      : html`<${Problem} error=${{ message: answer.problem?.detail ?? 'No provider can create it', remedy: answer.problem?.remedy }} />`}
    <ul class="why" tabindex="0" aria-label="Other providers">${answer.providers.filter((one) => !one.chosen).map((one) => html`
      <li key=${one.name}><strong>${one.name}</strong>
        <span class=${one.eligible ? 'dim' : 'bad'}> ${one.reasons?.length ? one.reasons.join('; ') : 'would be tried next'}</span>
        ${one.fix && html`<div class="dim">${one.fix}</div>`}</li>`)}</ul>`;
}

/** Inputs for fields; what is empty is left to the server. */
const FieldInputs = ({ fields, texts, onText }) => fields.map((field) => html`
  <${Field} key=${field.path} label=${field.path} hint=${field.hint}>${(id) => input(id, field, texts[field.path] ?? '', (event) => onText(field.path, event.target.value))}<//>`);

function input(id, { kind, schema, secret }, value, change) {
  switch (kind) {
    case 'flag':
    case 'choice': {
      const options = kind === 'flag' ? ['true', 'false'] : schema.enum;
      return html`<select id=${id} value=${value} onChange=${change}>
        <option value="">the default</option>${options.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`;
    }
    case 'number': return html`<input id=${id} type="number" step="any" min=${schema.minimum} max=${schema.maximum} value=${value} onInput=${change} />`;
    case 'pairs':
    case 'json': return html`<textarea id=${id} rows="2" value=${value} onInput=${change}></textarea>`;
    default: return html`<input id=${id} type=${secret ? 'password' : 'text'} autocomplete=${secret ? 'new-password' : undefined} value=${value} onInput=${change} />`;
  }
}

export function CreateDialog({ onClose }) {
  const [form, setForm] = useState(BLANK);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const images = useLoad(() => api.get(api.path('images')), []);
  const providers = useLoad(() => api.get(api.path('providers')), []);
  const document = useLoad(() => api.get(api.path('openapi.json')), []);
  const others = document.data ? fieldsOf(document.data, COVERED) : [];
  const selection = useSelection(form, others);
  const set = (key) => (event) => setForm({ ...form, [key]: event.target.type === 'checkbox' ? event.target.checked : event.target.value });
  const input = (key, extra = {}) => (id) => html`<input id=${id} value=${form[key]} onInput=${set(key)} ...${extra} />`;
  const choice = (key, options) => (id) => html`
    <select id=${id} value=${form[key]} onChange=${set(key)}>${options.map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}</select>`;
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const sandbox = await api.post(api.path('sandboxes'), requestOf(form, others));
      store.putSandbox(sandbox);
      toast(`${sandbox.name ?? sandbox.id} runs on ${sandbox.provider}`);
      location.hash = `/sandboxes/${sandbox.id}/terminal`;
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return html`
    <${Dialog} title="Create a sandbox" onClose=${onClose} wide>
      <form onSubmit=${submit} class="create">
        <div class="columns">
          <div>
            <${Field} label="Name" hint="optional; letters, digits, dots and dashes">${input('name', { autofocus: true, maxlength: 63 })}<//>
            <${Field} label="Image" hint="the files it starts from">${choice('image', [['', 'the default'], ...(images.data?.images ?? []).map((one) => [one.name, one.name])])}<//>
            <${Field} label="Provider">${choice('provider', [['', 'the best that works'], ...(providers.data?.providers ?? []).map((one) => [one.name, one.name])])}<//>
            <${Field} label="Isolation, at least">${choice('isolation', [['', 'as the server demands'], ['process', 'process'], ['container', 'container'], ['kernel', 'kernel'], ['vm', 'virtual machine']])}<//>
            <${Field} label="Network">${choice('network', [['', 'the default'], ['none', 'none'], ['filtered', 'filtered: chosen hosts'], ['bridge', 'bridge: everything but the host'], ...(store.can('admin') ? [['host', 'host']] : [])])}<//>
            ${form.network === 'filtered' && html`<${Field} label="Allowed hosts" hint="such as *.example.org, pypi.org">${input('domains')}<//>`}
            <div class="pair">
              <${Field} label="Processors">${input('cpu', { type: 'number', min: 0.1, step: 0.1 })}<//>
              <${Field} label="Memory (MiB)">${input('memory', { type: 'number', min: 16 })}<//>
              <${Field} label="Expires after (min)">${input('ttl', { type: 'number', min: 1 })}<//></div>
            <details><summary>Environment, tags, fallback</summary>
              <${Field} label="Environment" hint="NAME=VALUE, one on each line">${(id) => html`<textarea id=${id} rows="3" value=${form.env} onInput=${set('env')}></textarea>`}<//>
              <${Field} label="Tags" hint="NAME=VALUE, one on each line">${(id) => html`<textarea id=${id} rows="2" value=${form.tags} onInput=${set('tags')}></textarea>`}<//>
              <label class="check"><input type="checkbox" checked=${form.strict} onChange=${set('strict')} /> Fail rather than use another provider</label></details>
            <details><summary>Other fields</summary>
              <${FieldInputs} fields=${others} texts=${form.others} onText=${(path, text) => setForm({ ...form, others: { ...form.others, [path]: text } })} /></details>
          </div>
          <section class="card" aria-live="polite"><h3>Which provider, and why</h3><${Why} selection=${selection} /></section>
        </div>
        ${error && html`<${Problem} error=${error} />`}
        <footer><button type="button" onClick=${onClose}>Cancel</button>
          <button class="primary" disabled=${busy}>${busy ? 'Creating' : 'Create'}</button></footer>
      </form>
    <//>`;
}
