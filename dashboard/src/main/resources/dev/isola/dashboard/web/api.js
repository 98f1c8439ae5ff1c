// Requests to the HTTP API. The browser sends the session's cookie; no script ever sees a key.

/** An error of the API (RFC 9457), with what to do about it. */
export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered with status ${status}`);
    this.status = status;
    this.code = problem.code || '';
    this.remedy = problem.remedy || '';
    this.requestId = problem.requestId || '';
    this.context = problem.context || {};
  }
}

let onSignedOut = () => {};

/** Calls a function when a request shows that the session has ended. */
export function whenSignedOut(callback) {
  onSignedOut = callback;
}

async function failure(response) {
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    // Not from Isola, such as the page of a proxy: the status says all there is.
  }
  const error = new ApiError(response.status, problem);
  if (response.status === 401) {
    onSignedOut(error);
  }
  return error;
}

/** Sends a request; the result is the response if it was successful. */
export async function send(method, path, options = {}) {
  let response;
  try {
    response = await fetch(path, { method, credentials: 'same-origin', ...options });
  } catch (error) {
    if (error.name === 'AbortError') {
      throw error;
    }
    throw new ApiError(0, {
      detail: 'the server does not answer',
      remedy: 'check that it runs and that this machine reaches it',
    });
  }
  if (!response.ok) {
    throw await failure(response);
  }
  return response;
}

async function json(method, path, body, options = {}) {
  const response = await send(method, path, {
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    ...options,
  });
  return response.status === 204 ? null : response.json();
}

export const get = (path, options) => json('GET', path, undefined, options);
export const post = (path, body, options) => json('POST', path, body, options);
export const put = (path, body, options) => json('PUT', path, body, options);
export const patch = (path, body) => json('PATCH', path, body);
export const remove = (path) => json('DELETE', path);

/** Adds query parameters to a path; absent ones are left out, lists are repeated. */
export function query(path, parameters) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') {
        search.append(name, one);
      }
    }
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

const V1 = '/api/v1';
export const path = (...parts) => `${V1}/${parts.map(encodeURIComponent).join('/')}`;
export const sandboxPath = (id, ...parts) => path('sandboxes', id, ...parts);

/** The names of images and templates may contain a slash, which the API writes as a tilde. */
export const imagePath = (name, ...parts) => path('images', name.replaceAll('/', '~'), ...parts);

const isControl = (type) => type === 'connection';

/**
 * Follows server-sent events with EventSource, which reconnects where it stopped.
 * `handlers` has a function for each type of event, and may have `connection(isOpen)`.
 * Returns a function that ends it.
 */
export function follow(address, handlers) {
  const source = new EventSource(address);
  for (const [type, handler] of Object.entries(handlers)) {
    if (!isControl(type)) {
      source.addEventListener(type, (event) => {
        if (event.data !== undefined) {
          handler(JSON.parse(event.data), event.lastEventId);
        }
      });
    }
  }
  source.addEventListener('open', () => handlers.connection?.(true));
  source.addEventListener('error', (event) => {
    if (event.data === undefined) {
      handlers.connection?.(false);
      if (source.readyState === EventSource.CLOSED) {
        // The server refused it; a plain request says why, and notices the end of the session.
        get(path('session')).catch(() => {});
      }
    }
  });
  return () => source.close();
}

let worker;

function sharedWorker() {
  if (worker === undefined) {
    worker = null;
    if (globalThis.SharedWorker) {
      worker = new SharedWorker(new URL('streams.js', import.meta.url), { type: 'module', name: 'isola-streams' });
      worker.port.start();
      // A page that may come back from the history needs its streams again.
      addEventListener('pagehide', () => worker.port.postMessage({ operation: 'leave all' }));
      addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
    }
  }
  return worker;
}

/**
 * Follows events like `follow`, with one connection for all tabs.
 * @param replayed the type of event that begins a history, which later followers receive too
 */
export function followShared(address, handlers, replayed) {
  const shared = sharedWorker();
  if (!shared) {
    return follow(address, handlers);
  }
  const receive = ({ data: message }) => {
    if (message.address !== address) return;
    if (message.type === '(open)') handlers.connection?.(true);
    else if (message.type === '(lost)') handlers.connection?.(false);
    else if (message.type === '(refused)') {
      handlers.connection?.(false);
      get(path('session')).catch(() => {});
    } else handlers[message.type]?.(JSON.parse(message.data), message.id);
  };
  shared.port.addEventListener('message', receive);
  shared.port.postMessage({
    operation: 'follow', address, replayed, types: Object.keys(handlers).filter((type) => !isControl(type)),
  });
  return () => {
    shared.port.removeEventListener('message', receive);
    shared.port.postMessage({ operation: 'leave', address });
  };
}

/** Reads the events that exist now, oldest first; what comes later is left to `followShared`. */
export async function readEvents(parameters, types, signal) {
  const found = [];
  const response = await send('GET', query(path('events'), { ...parameters, type: types, follow: false }), { signal });
  await followResponse(response, (type, event) => found.push(event));
  return found;
}

/** Reads server-sent events from a response, until it ends. */
export async function followResponse(response, handler) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      let type = 'message';
      let data = '';
      for (const line of block.split('\n')) {
        if (line.startsWith('event:')) type = line.slice(6).trim();
        if (line.startsWith('data:')) data += line.slice(5).trim();
      }
      if (data) {
        handler(type, JSON.parse(data));
      }
    }
  }
}
