import type { PortDetails, PortLink, PortList, PortStatus, Token } from "./generated/models.js";
import type { CallOptions } from "./options.js";
import type { Transport } from "./transport.js";

export interface LinkOptions extends CallOptions {
  /** how long the link works; default one hour */
  ttlSeconds?: number;
  /** `path` for a browser that cannot resolve `*.localhost`; docs/previews.md lists its restrictions */
  form?: "host" | "path";
}

/** Ports of a sandbox that are reachable as previews. */
export class Ports {
  readonly #transport: Transport;
  readonly #sandbox: string;

  /** @internal */
  constructor(transport: Transport, sandboxPath: string) {
    this.#transport = transport;
    this.#sandbox = sandboxPath;
  }

  #path(port: number): string {
    return `${this.#sandbox}/ports/${encodeURIComponent(port)}`;
  }

  /** Lists the ports that the spec exposes and the public ports. */
  async list(call: CallOptions = {}): Promise<PortStatus[]> {
    return (await this.#transport.get<PortList>(`${this.#sandbox}/ports`, call)).ports;
  }

  /** Describes a port. The server connects to it to learn whether a process listens. */
  async get(port: number, call: CallOptions = {}): Promise<PortDetails> {
    return this.#transport.get(this.#path(port), call);
  }

  /** Makes a port public, or reachable only with a key or a link. */
  async setPublic(port: number, open: boolean, call: CallOptions = {}): Promise<PortStatus> {
    return this.#transport.send("PUT", this.#path(port), { public: open }, call);
  }

  /** Creates a link for a browser, which opens the port without a key. */
  async link(port: number, options: LinkOptions = {}): Promise<PortLink> {
    const { ttlSeconds = 3600, form, signal } = options;
    return this.#transport.post(`${this.#path(port)}/link`, { ttlSeconds, ...(form && { form }) }, { signal });
  }

  /** Returns the site on a port, for programs. Does not check that a process listens. */
  async preview(port: number, options: CallOptions & { ttlSeconds?: number } = {}): Promise<Preview> {
    const body = { scope: "preview", ttlSeconds: options.ttlSeconds ?? 3600 };
    const token = await this.#transport.post<Token>(`${this.#sandbox}/tokens`, body, { signal: options.signal });
    return new Preview(this.#transport, this.#path(port), token);
  }
}

/**
 * A port of a sandbox as a web site, for programs. Its requests carry a token that opens the ports of this sandbox and
 * nothing else; it never reaches the sandbox.
 */
export class Preview {
  readonly #transport: Transport;
  readonly #path: string;

  /** @internal */
  constructor(
    transport: Transport,
    path: string,
    readonly token: Token,
  ) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Returns the address of a path of the site; `path` begins with a slash and is percent-encoded. */
  url(path: string): string {
    return `${this.#transport.settings.url}${this.#path}${path.startsWith("/") ? "" : "/"}${path}`;
  }

  /** Sends a request to the site. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("X-Isola-Token", this.token.token);
    return this.#transport.settings.fetch(this.url(path), { ...init, headers });
  }
}
