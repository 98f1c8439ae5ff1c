// The set-up of this machine as a dialog: a goal, what is missing for it, a sandbox as proof.
import { useEffect, useRef, useState } from 'preact/hooks';
import { html, Action, Badge, Copy, Dialog, Problem, Spinner, State } from './ui.js';
import * as api from './api.js';

const GOALS = [
  { key: 'container', label: 'Containers', text: 'Namespaces and control groups of this machine; starts in milliseconds.', types: ['bubblewrap', 'crun', 'runc', 'docker', 'podman'] },
  { key: 'kernel', label: 'Kernel isolation', text: 'System calls end at a kernel of the sandbox (gVisor), not at that of this machine.', types: ['gvisor', 'docker-gvisor'] },
  { key: 'vm', label: 'Virtual machines', text: 'Each sandbox has a kernel and a virtual machine of its own; quick with KVM.', types: ['qemu', 'firecracker', 'kata', 'microvmctl'] },
  { key: 'e2b', label: 'E2B’s cloud', text: 'Sandboxes run at E2B, or at a server that speaks its API; needs a key of theirs.', types: ['e2b'] },
];
const COMMAND = 'echo "It works."; uname -sr; id';
const TEST_TTL_SECONDS = 300;
const ORDER = { healthy: 0, degraded: 1, unhealthy: 2 };

const works = (provider) => provider.status !== 'unhealthy';

const missingOf = (provider) => (provider.requirements ?? []).filter((one) => one.necessary && !one.present).length;

/** The providers for a goal: those that work first, then those that lack the least. */
function candidates(goal, providers) {
  const fits = (one) => goal.types.includes(one.type ?? one.name) || (goal.key !== 'e2b' && one.type !== 'e2b' && one.isolation === goal.key);
  return providers.filter(fits).sort((a, b) => ORDER[a.status] - ORDER[b.status] || missingOf(a) - missingOf(b) || a.name.localeCompare(b.name));
}

function Goals({ providers, onChoose }) {
  return html`
    <p>What should sandboxes be isolated by?</p>
    <ul class="choices">${GOALS.map((goal) => {
      const fitting = candidates(goal, providers);
      return html`<li key=${goal.key}><button type="button" onClick=${() => onChoose(goal)}><strong>${goal.label}</strong>${' '}
        ${fitting.some(works) ? html`<${Badge} kind="good">ready<//>` : html`<${Badge} kind="warn">needs set-up<//>`}<span class="dim">${goal.text}</span></button></li>`;
    })}</ul>`;
}

/** A text of the server that may be a command. */
const Fix = ({ text }) => text && html`<p class="fix"><code>${text}</code> <${Copy} text=${text} /></p>`;

function Missing({ provider }) {
  const missing = (provider.requirements ?? []).filter((one) => !one.present && (one.necessary || !works(provider)));
  if (works(provider) && missing.length === 0) {
    return html`<p><${Badge} kind="good">ready<//> ${provider.summary ?? 'This machine has all that it needs.'}</p>${provider.reason && html`<p class="notice">${provider.reason}</p><${Fix} text=${provider.fix} />`}`;
  }
  const said = missing.some((one) => one.fix && one.fix === provider.fix);
  return html`
    <ol class="steps">
      ${missing.map((one) => html`<li key=${one.name}><strong>${one.name}</strong>${!one.necessary && html` <span class="dim">optional</span>`}<p>${one.detail}</p><${Fix} text=${one.fix} /></li>`)}
      ${provider.reason && !said && html`<li><strong>${provider.name}</strong><p>${provider.reason}</p><${Fix} text=${provider.fix} /></li>`}
    </ol>`;
}

function Requirements({ goal, providers, named, onName, onCheck, onBack, onNext }) {
  const fitting = candidates(goal, providers);
  const provider = fitting.find((one) => one.name === named) ?? fitting[0];
  if (!provider) {
    return html`<p>This server has no provider of this kind. See the configuration: it may be switched off with <code>providers.NAME.enabled</code>.</p>
      <footer><button type="button" onClick=${onBack}>Back</button></footer>`;
  }
  return html`
    ${fitting.length > 1 && html`<div class="chips" role="group" aria-label="Providers">${fitting.map((one) => html`
      <button type="button" key=${one.name} class="small ${one === provider ? 'selected' : ''}" aria-pressed=${one === provider} onClick=${() => onName(one.name)}>${one.name} <${State} value=${one.status} /></button>`)}</div>`}
    <h3>${works(provider) ? `${provider.name} works` : `What ${provider.name} needs`}</h3>
    <${Missing} provider=${provider} />
    ${!works(provider) && html`<p class="dim">Run the command on the machine of the server, with its rights; then check again.</p>`}
    <footer><button type="button" onClick=${onBack}>Back</button><${Action} run=${onCheck}>Check again<//>
      <button type="button" class="primary" disabled=${!works(provider)} onClick=${() => onNext(provider)}>Try it</button></footer>`;
}

/** Creates a sandbox with the provider, runs a command in it, and destroys it. */
async function runInSandbox(provider) {
  const created = await api.post(api.path('sandboxes'), {
    provider: provider.name, strictNoFallback: true, ttlSeconds: TEST_TTL_SECONDS, tags: { for: 'setup' },
  });
  try {
    const done = await api.post(api.sandboxPath(created.id, 'exec'), { command: COMMAND, timeoutMs: 60_000 });
    return { ...done, provider: created.provider };
  } finally {
    api.remove(api.query(api.sandboxPath(created.id), { force: true })).catch(() => {});
  }
}

function TestSandbox({ provider, onBack, onClose }) {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState({});
  const alive = useRef(true);
  useEffect(() => () => { alive.current = false; }, []);
  useEffect(() => {
    setState({});
    runInSandbox(provider).then((result) => alive.current && setState({ result }), (error) => alive.current && setState({ error }));
  }, [turn]);
  const { result, error } = state;
  return html`
    ${!result && !error && html`<${Spinner} label=${`A sandbox of ${provider.name} runs a command`} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${result && html`<p role="status"><${Badge} kind=${result.exitCode === 0 ? 'good' : 'bad'}>${result.exitCode === 0 ? 'works' : `exit code ${result.exitCode}`}<//> A sandbox of ${result.provider} was created, ran this and is gone:</p>
      <pre class="output">$ ${COMMAND}\n${result.stdout}${result.stderr}</pre>`}
    <footer><button type="button" onClick=${onBack}>Back</button><button type="button" disabled=${!result && !error} onClick=${() => setTurn(turn + 1)}>Again</button>
      <button type="button" class="primary" onClick=${onClose}>Done</button></footer>`;
}

const STEPS = ['Goal', 'Requirements', 'Test'];

/** `onChange` is called when providers have been checked. */
export function SetupWizard({ providers: first, onChange, onClose }) {
  const [providers, setProviders] = useState(first);
  const [goal, setGoal] = useState(null);
  const [named, setNamed] = useState('');
  const [tested, setTested] = useState(null);
  const check = async () => {
    setProviders((await api.post(api.path('providers', 'check'))).providers);
    onChange();
  };
  const step = tested ? 2 : goal ? 1 : 0;
  return html`
    <${Dialog} wide title="Set up this machine" onClose=${onClose}>
      <ol class="progress" aria-label="Steps">${STEPS.map((label, at) => html`<li key=${label} aria-current=${at === step ? 'step' : undefined}>${label}</li>`)}</ol>
      ${step === 0 && html`<${Goals} providers=${providers} onChoose=${(one) => { setGoal(one); setNamed(''); }} />`}
      ${step === 1 && html`<${Requirements} goal=${goal} providers=${providers} named=${named} onName=${setNamed} onCheck=${check} onBack=${() => setGoal(null)} onNext=${setTested} />`}
      ${step === 2 && html`<${TestSandbox} provider=${tested} onBack=${() => setTested(null)} onClose=${onClose} />`}
    <//>`;
}
