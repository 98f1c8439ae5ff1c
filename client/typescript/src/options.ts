import { clientError } from "./errors.js";

/** The part of the WebSocket constructor that terminals use. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocket;

/** Where the server is and how to talk to it. */
export interface ConnectOptions {
  /** of the server; default `ISOLA_URL`, else `http://127.0.0.1:7777` */
  url?: string;
  /** API key, or a token of a sandbox; default `ISOLA_API_KEY` */
  key?: string;
  /** of short requests, in milliseconds; default 60,000 */
  timeoutMs?: number;
  /** how long streams and terminals try to reconnect after the connection broke; default 30,000 */
  reconnectForMs?: number;
  /** how often a request that is safe to repeat is sent in total; default 3 */
  attempts?: number;
  /** used instead of the global `fetch`, for example to pass a proxy or certificates */
  fetch?: typeof fetch;
  /** used instead of the global `WebSocket`, which Node.js has since version 22 */
  webSocket?: WebSocketConstructor;
}

/** Options of a single call. */
export interface CallOptions {
  /** ends the call with an error of code `CANCELLED` */
  signal?: AbortSignal | undefined;
}

export interface Settings {
  url: string;
  key: string;
  timeoutMs: number;
  reconnectForMs: number;
  attempts: number;
  fetch: typeof fetch;
  webSocket: WebSocketConstructor | undefined;
}

function environment(name: string): string | undefined {
  const host = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return host.process?.env?.[name] || undefined;
}

function checkUrl(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text.trim());
  } catch {
    // reported below
  }
  const plain = url && !url.username && !url.password && !url.search && !url.hash;
  if (!url || !plain || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw clientError("INVALID_REQUEST", `'${text}' is not a URL of a server`, "use one such as http://127.0.0.1:7777");
  }
  return url.href.replace(/\/+$/, "");
}

function checkKey(key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw clientError(
      "INVALID_REQUEST",
      key === "" ? "the API key is empty" : "the API key contains invalid characters",
      "use a key of the server, without spaces or line breaks",
    );
  }
  return key;
}

function positive(name: string, value: number): number {
  if (!(value >= 1)) {
    throw clientError("INVALID_REQUEST", `${name} is ${value}`, "use a positive number");
  }
  return value;
}

export function settingsOf(options: ConnectOptions): Settings {
  const key = options.key ?? environment("ISOLA_API_KEY");
  if (key === undefined) {
    throw clientError("UNAUTHENTICATED", "no API key", "pass the option key, or set ISOLA_API_KEY");
  }
  const global = globalThis as { WebSocket?: WebSocketConstructor };
  return {
    url: checkUrl(options.url ?? environment("ISOLA_URL") ?? "http://127.0.0.1:7777"),
    key: checkKey(key),
    timeoutMs: positive("timeoutMs", options.timeoutMs ?? 60_000),
    reconnectForMs: positive("reconnectForMs", options.reconnectForMs ?? 30_000),
    attempts: positive("attempts", options.attempts ?? 3),
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    webSocket: options.webSocket ?? global.WebSocket,
  };
}
