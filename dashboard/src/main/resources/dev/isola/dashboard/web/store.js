// What all pages share: the session, the sandboxes of the server, kept current by events.
import { batch, computed, signal } from '@preact/signals';
import * as api from './api.js';

/** {actor, scope, sandbox?, version}; null if no one is signed in; undefined until that is known. */
export const session = signal(undefined);

/** Why the session ended, if it did. */
export const signedOutBecause = signal('');

/** Why a sign-in with OpenID Connect failed, as the server names it. */
export const signInProblem = signal('');

const SCOPES = ['read', 'use', 'admin'];

/** Returns whether the person who signed in may do what needs this scope. */
export function can(scope) {
  const own = session.value?.scope;
  return SCOPES.indexOf(own) >= SCOPES.indexOf(scope);
}

/** The id of the one sandbox that a share link opened; undefined for a key. */
export const sharedSandbox = computed(() => session.value?.sandbox);

export const sandboxes = signal(new Map());

/** The same, the newest first. */
export const newestFirst = computed(() => [...sandboxes.value.values()]
  .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0)));

/** How many sandboxes there are by state. */
export const counts = computed(() => {
  const result = {};
  for (const one of sandboxes.value.values()) result[one.state] = (result[one.state] ?? 0) + 1;
  return result;
});

const EXPIRING_MS = 600_000;
export const isExpiring = (sandbox) => sandbox.expiresAt && Date.parse(sandbox.expiresAt) - Date.now() < EXPIRING_MS;
export const sandboxesState = signal({ loading: true, error: null });
export const isLive = signal(false);
export const stats = signal({ samples: [], latest: null, health: {} });

const EVENTS_KEPT = 2000;
export const events = signal([]);

const listeners = new Set();

/** Calls a function with every event; returns a function that ends it. */
export function onEvent(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let closers = [];
let changed = new Map();
let received = [];
let timer = 0;
let applied = 0;

/** The page is drawn at most this often for events, however many arrive. */
const EVENTS_EVERY_MS = 250;

function schedule(wait) {
  clearTimeout(timer);
  timer = setTimeout(applyChanges, wait);
}

function applyChanges() {
  timer = 0;
  applied = performance.now();
  batch(() => {
    if (changed.size) {
      const next = new Map(sandboxes.value);
      for (const [id, sandbox] of changed) {
        if (sandbox === null) next.delete(id);
        else next.set(id, sandbox);
      }
      changed = new Map();
      sandboxes.value = next;
    }
    if (received.length) {
      events.value = received.slice(-EVENTS_KEPT).reverse().concat(events.value).slice(0, EVENTS_KEPT);
      received = [];
    }
  });
}

const current = (id) => (changed.has(id) ? changed.get(id) : sandboxes.value.get(id));

export function putSandbox(sandbox) {
  changed.set(sandbox.id, sandbox.state === 'destroyed' ? null : sandbox);
  schedule(0);
}

export async function refreshSandbox(id) {
  try {
    putSandbox(await api.get(api.sandboxPath(id)));
  } catch (error) {
    if (error.status !== 404) throw error;
    changed.set(id, null);
    schedule(0);
  }
}

function apply(event) {
  received.push(event);
  for (const listener of listeners) {
    listener(event);
  }
  const state = event.data?.to;
  if (state) {
    const known = current(event.sandbox);
    if (state === 'destroyed') {
      changed.set(event.sandbox, null);
    } else if (known) {
      changed.set(event.sandbox, { ...known, state, cause: event.data.cause ?? known.cause });
    } else {
      refreshSandbox(event.sandbox).catch(() => {});
    }
  }
  if (!timer) schedule(Math.max(0, applied + EVENTS_EVERY_MS - performance.now()));
}

export async function loadSandboxes() {
  try {
    const all = new Map();
    if (sharedSandbox.value) {
      const one = await api.get(api.sandboxPath(sharedSandbox.value));
      all.set(one.id, one);
    } else {
      let cursor;
      do {
        const page = await api.get(api.query(api.path('sandboxes'), { limit: 1000, cursor }));
        page.sandboxes.forEach((one) => all.set(one.id, one));
        cursor = page.next;
      } while (cursor);
    }
    sandboxes.value = all;
    sandboxesState.value = { loading: false, error: null };
  } catch (error) {
    sandboxesState.value = { loading: false, error };
  }
}

export const EVENT_TYPES = [
  'spawn', 'ready', 'stateChange', 'resourceWarning', 'error', 'terminate', 'snapshotProgress',
  'snapshot', 'snapshotFailed', 'quarantine', 'egressDenied', 'egressConnection',
];

/** Begins to follow the server. The list is loaded after the stream is open, so nothing is missed. */
export function start() {
  stop();
  const handlers = Object.fromEntries(EVENT_TYPES.map((type) => [type, apply]));
  handlers.connection = (open) => {
    const wasLive = isLive.value;
    isLive.value = open;
    if (open && !wasLive) loadSandboxes();
  };
  closers.push(
    api.followShared(api.query(api.path('events'), { sandbox: sharedSandbox.value }), handlers));
  if (!sharedSandbox.value) {
    closers.push(
      api.followShared(api.path('stats'), {
        history: (history) => {
          stats.value = {
            samples: history.samples,
            latest: history.samples.at(-1) ?? null,
            health: Object.fromEntries(history.health.map((one) => [one.name, one.changes])),
          };
        },
        sample: (sample) => {
          const samples = stats.value.samples.concat([sample]).slice(-600);
          stats.value = { ...stats.value, samples, latest: sample };
        },
      }, 'history'));
  }
}

export function stop() {
  closers.forEach((close) => close());
  closers = [];
  isLive.value = false;
}

export async function loadSession() {
  try {
    session.value = await api.get(api.path('session'));
  } catch (error) {
    session.value = null;
    if (error.status !== 401) signedOutBecause.value = error.message;
  }
}

export async function signIn(credential) {
  session.value = await api.post(api.path('session'), credential);
  signedOutBecause.value = '';
}

export async function signOut() {
  stop();
  try {
    await api.remove(api.path('session'));
  } finally {
    session.value = null;
    sandboxes.value = new Map();
    events.value = [];
    signedOutBecause.value = '';
  }
}

api.whenSignedOut(() => {
  if (session.value) {
    stop();
    session.value = null;
    signedOutBecause.value = 'Your session has ended. Sign in again; nothing that runs was affected.';
  }
});
