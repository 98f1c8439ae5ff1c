// The frame of all pages: sign-in, navigation, the address, the command palette.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import { html, Icon, Toasts, Confirmation, Dialog, Spinner } from './ui.js';
import * as store from './store.js';
import { SignIn } from './signin.js';
import { Overview } from './overview.js';
import { Sandboxes } from './sandboxes.js';
import { SandboxPage } from './sandbox.js';
import { Providers } from './providers.js';
import { Images } from './images.js';
import { Volumes } from './volumes.js';
import { Secrets } from './secrets.js';
import { Events } from './events.js';
import { Keys } from './keys.js';
import { Policy } from './policy.js';
import { Settings, applyTheme } from './settings.js';
import { Playground } from './playground.js';

/** Pages by the first part of the address; each with the scope without which it is not offered. */
const PAGES = {
  overview: { label: 'Overview', page: Overview, scope: 'read' },
  sandboxes: { label: 'Sandboxes', page: Sandboxes, scope: 'read' },
  playground: { label: 'Playground', page: Playground, scope: 'use' },
  events: { label: 'Events', page: Events, scope: 'read' },
  images: { label: 'Images and templates', page: Images, scope: 'read' },
  volumes: { label: 'Volumes', page: Volumes, scope: 'read' },
  secrets: { label: 'Secrets', page: Secrets, scope: 'use' },
  providers: { label: 'Providers', page: Providers, scope: 'read' },
  keys: { label: 'Keys', page: Keys, scope: 'admin' },
  policy: { label: 'Policy and quotas', page: Policy, scope: 'admin' },
  settings: { label: 'Settings', page: Settings, scope: 'read' },
};

const readAddress = () => {
  const [pathname, search] = location.hash.replace(/^#\/?/, '').split('?');
  return {
    parts: pathname.split('/').filter(Boolean).map(decodeURIComponent),
    search: new URLSearchParams(search ?? ''),
  };
};
const address = signal(readAddress());
addEventListener('hashchange', () => { address.value = readAddress(); });

const paletteOpen = signal(false);
const menuOpen = signal(false);

function offered() {
  return Object.entries(PAGES).filter(([, one]) => store.can(one.scope));
}

function Navigation() {
  const current = address.value.parts[0] ?? 'overview';
  const running = store.counts.value.running ?? 0;
  return html`
    <nav class="side ${menuOpen.value ? 'open' : ''}" aria-label="Pages">
      <a class="brand" href="#/overview"><img src=${new URL('icon.svg', import.meta.url).href} alt="" width="26" height="26" />Isola</a>
      ${offered().map(([key, one]) => html`
        <a key=${key} href=${`#/${key}`} aria-current=${key === current ? 'page' : undefined}
            onClick=${() => { menuOpen.value = false; }}>
          <${Icon} name=${key} /><span>${one.label}</span>
          ${key === 'sandboxes' && running > 0 && html`<span class="count" aria-label=${`${running} running`}>${running}</span>`}
        </a>`)}
      <a href="/api/v1/docs" target="_blank" rel="noopener"><${Icon} name="api" /><span>API reference</span></a>
    </nav>`;
}

function TopBar() {
  const who = store.session.value;
  return html`
    <header class="top">
      <button class="plain menu" aria-label="Menu" aria-expanded=${menuOpen.value}
        onClick=${() => { menuOpen.value = !menuOpen.value; }}><${Icon} name="menu" /></button>
      <button class="palette-button" onClick=${() => { paletteOpen.value = true; }}>
        <${Icon} name="search" /><span>Go to a sandbox or page</span><kbd>Ctrl K</kbd></button>
      <span class="live ${store.isLive.value ? 'on' : ''}" role="status">${store.isLive.value ? 'live' : 'connecting'}</span>
      <span class="who" title=${`scope ${who.scope}`}>${who.actor} <span class="dim">${who.scope}</span></span>
      <button class="small" onClick=${store.signOut}>Sign out</button>
    </header>`;
}

/** Pages, actions and sandboxes that match what was typed. */
function destinations(text) {
  const words = text.toLowerCase();
  return [
    ...offered().map(([key, one]) => ({ label: one.label, note: 'page', href: `#/${key}` })),
    ...(store.can('use') ? [{ label: 'Create a sandbox', note: 'action', href: '#/sandboxes?create=1' }] : []),
    ...[...store.sandboxes.value.values()].map((one) => ({
      label: one.name ?? one.id, note: `${one.state} · ${one.provider}`, href: `#/sandboxes/${one.id}`, also: one.id,
    })),
  ].filter((one) => `${one.label} ${one.also ?? ''} ${one.note}`.toLowerCase().includes(words)).slice(0, 12);
}

function Palette() {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const list = useRef(null);
  const close = () => { paletteOpen.value = false; };
  const entries = destinations(text);
  const choose = (entry) => { if (entry) { location.hash = entry.href.slice(1); close(); } };
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setSelected((selected + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === 'Enter') {
      // Of the text now, which may be newer than the list on the page.
      choose(destinations(event.target.value)[event.target.value === text ? selected : 0]);
    }
  };
  return html`
    <${Dialog} title="Go to" onClose=${close}>
      <input class="palette" autofocus role="combobox" aria-expanded="true" aria-controls="palette-list"
        aria-activedescendant=${entries[selected] ? `palette-${selected}` : undefined}
        aria-label="Page or sandbox" placeholder="Page, name or id" value=${text} onKeyDown=${key}
        onInput=${(event) => { setText(event.target.value); setSelected(0); }} />
      <ul id="palette-list" role="listbox" aria-label="Results" ref=${list} class="palette-list">
        ${entries.map((one, index) => html`
          <li key=${one.href} id=${`palette-${index}`} role="option" aria-selected=${index === selected}
            onClick=${() => choose(one)}><span>${one.label}</span><span class="dim">${one.note}</span></li>`)}
      </ul>
      ${entries.length === 0 && html`<p class="dim">Nothing matches.</p>`}
    <//>`;
}

const GO = { o: 'overview', s: 'sandboxes', e: 'events', p: 'providers', i: 'images', v: 'volumes', k: 'keys' };
let goPressed = 0;
addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && store.session.value) {
    event.preventDefault();
    paletteOpen.value = !paletteOpen.value;
    return;
  }
  const typing = event.target.closest?.('input, textarea, select, dialog, .xterm');
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !store.session.value) return;
  if (event.key === 'g') {
    goPressed = event.timeStamp;
  } else if (event.timeStamp - goPressed < 1500 && GO[event.key]) {
    location.hash = `/${GO[event.key]}`;
  } else if (event.key === '/') {
    const search = document.querySelector('input[type=search]');
    if (search) {
      event.preventDefault();
      search.focus();
    }
  }
});

function Content() {
  const { parts, search } = address.value;
  const only = store.sharedSandbox.value;
  if (only) {
    return html`<${SandboxPage} id=${only} tab=${parts[2]} rest=${parts.slice(3)} search=${search} />`;
  }
  const name = parts[0] ?? 'overview';
  if (name === 'sandboxes' && parts[1]) {
    return html`<${SandboxPage} key=${parts[1]} id=${parts[1]} tab=${parts[2]} rest=${parts.slice(3)} search=${search} />`;
  }
  const one = PAGES[name];
  if (!one || !store.can(one.scope)) {
    return html`<div class="empty"><h1>${one ? 'Not with this key' : 'There is no such page'}</h1>
      <p>${one ? `This page needs a key with scope ${one.scope}; yours has scope ${store.session.value.scope}.` : html`<a href="#/overview">Go to the overview</a>`}</p></div>`;
  }
  return html`<${one.page} search=${search} parts=${parts} />`;
}

function App() {
  const signedIn = store.session.value;
  useEffect(() => {
    if (signedIn) {
      store.start();
      return store.stop;
    }
    return undefined;
  }, [signedIn?.actor, signedIn?.sandbox]);
  useEffect(() => {
    const { parts } = address.value;
    document.title = ['Isola', ...parts].reverse().join(' · ');
    document.querySelector('main')?.focus({ preventScroll: true });
  }, [address.value.parts[0], address.value.parts[1]]);
  if (signedIn === undefined) return html`<${Spinner} label="Isola is loading" />`;
  if (signedIn === null) return html`<${SignIn} /><${Toasts} />`;
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector('main').focus(); }}>Skip to the content</a>
    <div class="frame ${signedIn.sandbox ? 'shared' : ''}">
      ${!signedIn.sandbox && html`<${Navigation} />`}
      <div class="body"><${TopBar} />
        <main id="main" tabindex="-1"><${Content} /></main></div>
    </div>
    ${paletteOpen.value && html`<${Palette} />`}
    <${Confirmation} /><${Toasts} />`;
}

/** A share link has its token after the #, which no browser sends to a server. */
async function begin() {
  applyTheme();
  const { parts } = address.value;
  if (parts[0] === 'sign-in') {
    store.signInProblem.value = address.value.search.get('problem') ?? '';
    history.replaceState(null, '', location.pathname);
    address.value = readAddress();
  }
  await store.loadSession();
  if (parts[0] === 'share' && parts[1]) {
    const token = parts[1];
    history.replaceState(null, '', location.pathname);
    if (!store.session.value) {
      try {
        await store.signIn({ token });
      } catch (error) {
        store.signedOutBecause.value = `The link cannot be opened: ${error.message}.`;
      }
    }
    if (store.session.value) {
      location.hash = `/sandboxes/${store.session.value.sandbox ?? parts[2] ?? ''}`;
    }
    address.value = readAddress();
  }
  const root = document.getElementById('app');
  root.replaceChildren();
  render(html`<${App} />`, root);
}

begin();
