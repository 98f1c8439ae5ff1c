import { useEffect, useRef, useState } from 'preact/hooks';
import { html, Action, Empty, Problem, attempt } from './ui.js';
import * as api from './api.js';

const PROTOCOL = 'isola.terminal.v1';
const DARK = { background: '#11161c', foreground: '#d7dde4', cursor: '#7fd6c4', selectionBackground: '#2c4a55' };

let library;

/** The terminal emulator is loaded with the first terminal. */
async function load() {
  library ??= (async () => {
    const sheet = document.createElement('link');
    sheet.rel = 'stylesheet';
    sheet.href = new URL('xterm.css', import.meta.url).href;
    document.head.append(sheet);
    const [{ Terminal }, { FitAddon }] = await Promise.all([import('@xterm/xterm'), import('@xterm/addon-fit')]);
    return { Terminal, FitAddon };
  })();
  return library;
}

/**
 * Creates an element for the terminal emulator. The content security policy forbids inline styles,
 * which the emulator writes into elements; here they become style sheets and properties, which the
 * policy allows.
 */
function createElement(name, options) {
  const create = (one) => Document.prototype.createElement.call(document, one, options);
  if (name === 'style') {
    const sheet = new CSSStyleSheet();
    const element = create('template');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    Object.defineProperty(element, 'textContent', { set: (text) => sheet.replaceSync(text) });
    element.remove = () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      Element.prototype.remove.call(element);
    };
    return element;
  }
  const element = create(name);
  element.setAttribute = (attribute, value) => {
    if (attribute === 'style') element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, attribute, value);
  };
  return element;
}

/** The document that the emulator uses after it was opened. */
const emulatorDocument = new Proxy(document, {
  get(target, name) {
    if (name === 'createElement') return createElement;
    const value = Reflect.get(target, name, target);
    return typeof value === 'function' ? value.bind(target) : value;
  },
  set: (target, name, value) => Reflect.set(target, name, value, target),
});

/** While it is opened, the emulator also uses the document of the page. */
function openTerminal(terminal, box) {
  document.createElement = createElement;
  try {
    terminal.open(box);
  } finally {
    delete document.createElement;
  }
}

const RETRY_MS = [250, 500, 1000, 2000, 4000];

/** Keeps a terminal attached: after a lost connection it continues at the byte where it stopped. */
class Attachment {
  constructor(address, terminal, onState) {
    this.address = address;
    this.terminal = terminal;
    this.onState = onState;
    this.offset = undefined;
    this.failures = 0;
    this.ended = false;
    this.connect();
  }

  connect() {
    const url = new URL(api.query(this.address, { offset: this.offset }), location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    this.socket = new WebSocket(url, [PROTOCOL]);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onopen = () => {
      this.failures = 0;
      this.onState('attached');
      this.resize();
    };
    this.socket.onmessage = ({ data }) => (typeof data === 'string' ? this.control(JSON.parse(data)) : this.output(data));
    this.socket.onclose = () => this.closed();
  }

  output(data) {
    this.offset = (this.offset ?? 0) + data.byteLength;
    this.terminal.write(new Uint8Array(data));
  }

  control(message) {
    if (message.type === 'attached') {
      this.offset = message.offset;
    } else if (message.type === 'gap') {
      this.offset = message.offset;
      this.terminal.write(`\r\n[${message.lost} bytes are no longer stored]\r\n`);
    } else if (message.type === 'exit') {
      this.ended = true;
      this.onState('ended', message.exitCode === undefined ? message.kind : `exit ${message.exitCode}`);
    } else if (message.type === 'error') {
      this.ended = message.code !== 'UNAVAILABLE';
      this.onState('failed', `${message.detail}. ${message.remedy ?? ''}`);
    }
  }

  closed() {
    if (this.ended) return;
    this.onState('reconnecting');
    const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.failures += 1;
    this.timer = setTimeout(() => this.connect(), wait);
  }

  write(data) {
    if (this.socket.readyState === WebSocket.OPEN) {
      for (let at = 0; at < data.length; at += 32_768) {
        this.socket.send(data.subarray(at, at + 32_768));
      }
    }
  }

  resize() {
    if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ type: 'resize', rows: this.terminal.rows, cols: this.terminal.cols }));
    }
  }

  close() {
    this.ended = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}

function Screen({ id, execution, shown }) {
  const box = useRef(null);
  const fit = useRef(null);
  const [state, setState] = useState({ name: 'connecting' });
  useEffect(() => {
    let gone = false;
    const closers = [];
    load().then(({ Terminal, FitAddon }) => {
      if (gone) return;
      const terminal = new Terminal({
        documentOverride: emulatorDocument, theme: DARK, fontSize: 13, cursorBlink: false,
        fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', scrollback: 5000, logLevel: 'off',
      });
      const addon = new FitAddon();
      terminal.loadAddon(addon);
      openTerminal(terminal, box.current);
      terminal.textarea?.setAttribute('aria-label', 'Terminal input');
      fit.current = () => box.current?.offsetParent && addon.fit();
      fit.current();
      const attachment = new Attachment(
        api.sandboxPath(id, 'executions', execution, 'terminal'), terminal,
        (name, detail) => !gone && setState({ name, detail }));
      const encoder = new TextEncoder();
      terminal.onData((text) => attachment.write(encoder.encode(text)));
      terminal.onBinary((text) => attachment.write(Uint8Array.from(text, (c) => c.charCodeAt(0))));
      terminal.onResize(() => attachment.resize());
      const observer = new ResizeObserver(() => fit.current?.());
      observer.observe(box.current);
      terminal.focus();
      box.current.terminal = terminal; // for tests, which read the screen
      closers.push(() => attachment.close(), () => observer.disconnect(), () => terminal.dispose());
    });
    return () => { gone = true; closers.forEach((close) => close()); };
  }, [id, execution]);
  useEffect(() => { if (shown) fit.current?.(); }, [shown]);
  return html`
    <div class="screen" hidden=${!shown}>
      <p class="dim" role="status">${execution} · ${state.name}${state.detail ? ` · ${state.detail}` : ''}</p>
      <div class="xterm-box" ref=${box}></div>
    </div>`;
}

const SHELL = 'if command -v bash >/dev/null; then exec bash; else exec sh; fi';

export function Terminals({ sandbox, id }) {
  const [open, setOpen] = useState(null);
  const [current, setCurrent] = useState(null);
  const [error, setError] = useState(null);
  const starting = useRef(false);

  const start = async () => {
    const started = await api.post(api.sandboxPath(id, 'executions'), {
      command: SHELL, tag: 'dashboard', terminal: { rows: 24, cols: 80 }, env: { TERM: 'xterm-256color' },
    });
    setOpen((before) => [...(before ?? []), started.id]);
    setCurrent(started.id);
  };

  const load = async () => {
    setError(null);
    try {
      const { executions } = await api.get(api.sandboxPath(id, 'executions'));
      const running = executions.filter((one) => one.running && one.terminal).map((one) => one.id);
      setOpen(running);
      if (running.length) {
        setCurrent(running.at(-1));
      } else if (!starting.current) {
        starting.current = true;
        await start();
      }
    } catch (failure) {
      setError(failure);
    }
  };
  useEffect(() => { if (sandbox.state === 'running') load(); }, [id, sandbox.state]);

  if (sandbox.state !== 'running') {
    return html`<${Empty} title="It is not running">A terminal needs a running sandbox; this one is ${sandbox.state}.<//>`;
  }
  const end = (execution) => attempt(async () => {
    await api.post(api.sandboxPath(id, 'executions', execution, 'signal'), { signal: 'KILL' }).catch((failure) => {
      if (failure.status !== 404 && failure.status !== 409) throw failure;
    });
    const left = open.filter((one) => one !== execution);
    setOpen(left);
    setCurrent(left.at(-1) ?? null);
  });
  return html`
    ${error && html`<${Problem} error=${error} retry=${load} />`}
    <div class="toolbar">
      ${(open ?? []).map((one, index) => html`
        <span class="terminal-tab" key=${one}>
          <button class=${one === current ? 'selected' : ''} aria-pressed=${one === current} onClick=${() => setCurrent(one)}>Terminal ${index + 1}</button>
          <button class="plain" aria-label=${`End terminal ${index + 1}`} onClick=${() => end(one)}>×</button></span>`)}
      <${Action} run=${start}>New terminal<//>
      <span class="dim">It continues when this page is closed, and when the server restarts.</span>
    </div>
    ${(open ?? []).map((one) => html`<${Screen} key=${one} id=${id} execution=${one} shown=${one === current} />`)}
    ${open?.length === 0 && !error && html`<${Empty} title="No terminal">Open one with New terminal.<//>`}`;
}
