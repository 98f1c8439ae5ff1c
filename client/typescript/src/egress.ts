import type { EgressReport, EgressRequest, EgressRule } from "./generated/models.js";
import type { CallOptions } from "./options.js";
import { withQuery } from "./path.js";
import type { Transport } from "./transport.js";

/** The hosts that a sandbox in network mode `filtered` reaches. Requires a key with scope `use`. */
export class Egress {
  readonly #transport: Transport;
  readonly #path: string;

  /** @internal */
  constructor(transport: Transport, sandboxPath: string) {
    this.#transport = transport;
    this.#path = `${sandboxPath}/egress`;
  }

  /** Returns the rules that apply, and the traffic of the sandbox. */
  async report(call: CallOptions = {}): Promise<EgressReport> {
    return this.#transport.get(this.#path, call);
  }

  /** Replaces all settings; `closeExisting` also ends open connections that they deny. */
  async replace(settings: EgressRequest, options: CallOptions & { closeExisting?: boolean } = {}): Promise<EgressReport> {
    const path = withQuery(this.#path, { closeExisting: options.closeExisting ?? false });
    return this.#transport.send("PUT", path, settings, { signal: options.signal });
  }

  /** Adds a rule. */
  async add(rule: EgressRule, call: CallOptions = {}): Promise<EgressReport> {
    return this.#transport.post(`${this.#path}/allow`, rule, call);
  }

  /** Allows a host: a name, `*.SUFFIX`, `*`, an address or a block of addresses. Without ports, all of them. */
  async allow(host: string, ports?: number[], call: CallOptions = {}): Promise<EgressReport> {
    return this.add({ allow: host, ...(ports && { ports }) }, call);
  }

  /** Denies a host; see {@link allow}. */
  async deny(host: string, ports?: number[], call: CallOptions = {}): Promise<EgressReport> {
    return this.add({ deny: host, ...(ports && { ports }) }, call);
  }
}
