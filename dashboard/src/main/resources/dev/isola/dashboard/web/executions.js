import { useEffect, useRef, useState } from 'preact/hooks';
import { html, Action, Ago, Badge, Empty, Field, Loaded, clock, useLoad } from './ui.js';
import * as api from './api.js';
import * as store from './store.js';

const KEPT_CHARACTERS = 1_000_000;

const decode = (event) => (event.encoding === 'base64'
  ? new TextDecoder().decode(Uint8Array.from(atob(event.data), (c) => c.charCodeAt(0)))
  : event.data);

/** Control characters, of which a browser shows nothing, are made visible; colours are left out. */
const visible = (text) => text
  .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
  .replace(/\r\n/g, '\n')
  .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, (c) => String.fromCharCode(0x2400 + (c === '\x7f' ? 0x21 : c.charCodeAt(0))));

/** Output that follows a command; `offset` is where in the journal it begins. */
function Output({ id, execution, offset }) {
  const [pieces, setPieces] = useState([]);
  const [end, setEnd] = useState(null);
  const box = useRef(null);
  const close = useRef(() => {});
  useEffect(() => {
    setPieces([]);
    setEnd(null);
    let waiting = [];
    let length = 0;
    let frame = 0;
    const add = (channel, text, at) => {
      waiting.push({ channel, text: visible(text), at });
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        const more = waiting;
        waiting = [];
        length += more.reduce((sum, one) => sum + one.text.length, 0);
        setPieces((before) => {
          const all = [...before, ...more];
          while (length > KEPT_CHARACTERS && all.length > 1) length -= all.shift().text.length;
          return all;
        });
      });
    };
    close.current = api.follow(api.query(api.sandboxPath(id, 'executions', execution, 'output'), { offset }), {
      output: (event) => add(event.channel, decode(event), event.at),
      gap: (event) => add('gap', `[${event.lost} bytes are no longer stored]\n`),
      exit: (event) => { setEnd(event); close.current(); },
      error: (event) => { setEnd({ kind: event.detail }); close.current(); },
    });
    return () => { close.current(); cancelAnimationFrame(frame); };
  }, [id, execution, offset]);
  useEffect(() => { if (box.current) box.current.scrollTop = box.current.scrollHeight; }, [pieces]);
  return html`
    <pre class="output" ref=${box} tabindex="0" role="log" aria-label=${`Output of ${execution}`}>${pieces.map((one, index) => html`<span key=${index} class=${one.channel} title=${one.at ? clock(one.at) : undefined}>${one.text}</span>`)}</pre>
    <p role="status">${end ? html`<${Badge} kind=${end.exitCode === 0 ? 'good' : 'bad'}>${end.exitCode === undefined ? end.kind : `exit ${end.exitCode}`}<//> <span class="dim">${end.durationMs !== undefined ? `${end.durationMs} ms` : ''}</span>` : html`<${Badge} kind="busy">running<//>`}</p>`;
}

const describe = (one) => (one.argv.length === 3 && one.argv[1] === '-c' ? one.argv[2] : one.argv.join(' '));

export function Executions({ sandbox, id, rest }) {
  const gone = ['terminating', 'destroyed'].includes(sandbox.state);
  const list = useLoad(
    () => (gone ? Promise.resolve({ executions: [] }) : api.get(api.sandboxPath(id, 'executions'))), [id, sandbox.state]);
  const [command, setCommand] = useState('');
  const [turn, setTurn] = useState(0);
  const open = rest[0];
  const run = async () => {
    const started = await api.post(api.sandboxPath(id, 'executions'), { command, tag: 'dashboard' });
    setCommand('');
    location.hash = `/sandboxes/${id}/commands/${started.id}`;
    list.reload();
  };
  return html`
    ${store.can('use') && html`
      <form class="toolbar" onSubmit=${(event) => event.preventDefault()}>
        <${Field} label="Command">${(field) => html`<input id=${field} class="code" value=${command} placeholder="python3 -c 'print(6 * 7)'"
          onInput=${(event) => setCommand(event.target.value)} />`}<//>
        <${Action} kind="primary" run=${run} disabled=${!command.trim() || sandbox.state !== 'running'}>Run<//></form>`}
    <div class="grid">
      <section class="card"><h2>Commands</h2>
        <${Loaded} of=${list}>${({ executions }) => (executions.length === 0
          ? html`<${Empty} title="No command yet">Commands appear here, also those of other clients.<//>`
          : html`<ul class="plain-list">${[...executions].reverse().map((one) => html`
              <li key=${one.id}><a href=${`#/sandboxes/${id}/commands/${one.id}`} aria-current=${one.id === open ? 'true' : undefined}><code class="clip">${describe(one)}</code></a>
                ${one.running ? html`<${Badge} kind="busy">running<//>` : html`<${Badge} kind=${one.exit?.code === 0 ? 'good' : 'bad'}>${one.exit?.code !== undefined ? `exit ${one.exit.code}` : one.exit?.kind ?? 'ended'}<//>`}
                <span class="dim"><${Ago} at=${one.startedAt} /></span></li>`)}</ul>`)}<//>
        <button class="small" onClick=${list.reload}>Refresh</button></section>
      ${open && html`
        <section class="card"><h2>Output</h2>
          <p><button class="small" onClick=${() => setTurn(turn + 1)}>Replay from the journal</button>
            ${store.can('use') && html` <${Action} kind="small" run=${() => api.post(api.sandboxPath(id, 'executions', open, 'signal'), { signal: 'TERM' })}>Terminate<//>
              <${Action} kind="small" run=${() => api.post(api.sandboxPath(id, 'executions', open, 'signal'), { signal: 'KILL' })}>Kill<//>`}</p>
          <${Output} key=${`${open} ${turn}`} id=${id} execution=${open} offset=${0} /></section>`}
    </div>`;
}
