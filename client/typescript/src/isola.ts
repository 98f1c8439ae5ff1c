import { clientError } from "./errors.js";
import { EventStream, type EventFilter } from "./events.js";
import type { CreateSandboxRequest, ProviderList, Sandbox as SandboxInfo } from "./generated/models.js";
import { settingsOf, type CallOptions, type ConnectOptions } from "./options.js";
import { apiPath } from "./path.js";
import { ApiKeys, Secrets, Snapshots, Volumes } from "./resources.js";
import { createSandbox, listSandboxes, Sandbox, type SandboxFilter } from "./sandbox.js";
import { Transport } from "./transport.js";

/**
 * A client of an Isola server. Without options, the server is that of `ISOLA_URL` and `ISOLA_API_KEY`. It keeps nothing
 * open between calls and need not be closed.
 */
export class Isola {
  readonly snapshots: Snapshots;
  readonly volumes: Volumes;
  readonly secrets: Secrets;
  readonly keys: ApiKeys;
  readonly #transport: Transport;

  constructor(options: ConnectOptions = {}) {
    this.#transport = new Transport(settingsOf(options));
    this.snapshots = new Snapshots(this.#transport);
    this.volumes = new Volumes(this.#transport);
    this.secrets = new Secrets(this.#transport);
    this.keys = new ApiKeys(this.#transport);
  }

  /** Creates a sandbox. If the response is lost, the request is repeated, and no second sandbox is created. */
  async create(spec: CreateSandboxRequest = {}, call: CallOptions = {}): Promise<Sandbox> {
    return createSandbox(this.#transport, spec, call);
  }

  /** Returns a handle to an existing sandbox, without checking that it exists. */
  sandbox(id: string): Sandbox {
    return new Sandbox(this.#transport, id, false);
  }

  /** Returns a handle to the sandbox with this id, this name, or an id that begins with `reference`, in this order. */
  async resolve(reference: string, call: CallOptions = {}): Promise<Sandbox> {
    if (/^[a-z0-9]{20}$/.test(reference)) {
      return this.sandbox(reference);
    }
    const found = await this.list({ ref: reference }, call);
    const exact = found.find((one) => one.id === reference) ?? found.find((one) => one.name === reference);
    const only = exact ?? (found.length === 1 ? found[0] : undefined);
    if (only) {
      return this.sandbox(only.id);
    }
    throw found.length === 0
      ? clientError("SANDBOX_NOT_FOUND", `there is no sandbox '${reference}'`, "list the sandboxes")
      : clientError("CONFLICT", `${found.length} ids begin with '${reference}'`, "use more characters of the id");
  }

  /** Lists sandboxes, oldest first. */
  async list(filter: SandboxFilter = {}, call: CallOptions = {}): Promise<SandboxInfo[]> {
    return listSandboxes(this.#transport, filter, call);
  }

  /** Streams lifecycle events. */
  async events(filter: EventFilter = {}, call: CallOptions = {}): Promise<EventStream> {
    return EventStream.open(this.#transport, filter, call.signal);
  }

  /** Describes the providers of the server, and the versions of specs that it takes. */
  async providers(call: CallOptions = {}): Promise<ProviderList> {
    return this.#transport.get(apiPath("providers"), call);
  }
}
