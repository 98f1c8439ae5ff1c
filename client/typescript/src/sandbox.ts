import { commandDocument, type Command, type CommandOptions } from "./command.js";
import { Egress } from "./egress.js";
import { DeadlineExceeded, errorOf, Gone, NotFound } from "./errors.js";
import { EventStream } from "./events.js";
import { complete, type ExecOptions, type ExecResult } from "./exec.js";
import { Execution } from "./execution.js";
import { Files } from "./files.js";
import type {
  CreateSandboxRequest,
  CreatedSnapshot,
  CreateSnapshotRequest,
  Execution as ExecutionInfo,
  ExecutionList,
  Fork,
  ForkList,
  Sandbox as SandboxInfo,
  SandboxList,
  SandboxState,
  SandboxStatus,
  SandboxUsage,
  StartedExecution,
  Token,
  TokenScope,
} from "./generated/models.js";
import { settingsOf, type CallOptions, type ConnectOptions } from "./options.js";
import { apiPath, withQuery } from "./path.js";
import { Ports } from "./ports.js";
import { Terminal, type TerminalSize } from "./terminal.js";
import { Transport, type ApiRequest } from "./transport.js";

/** For creating a sandbox, which may include pulling an image. */
const CREATE_MS = 600_000;

/** For operations that wait for processes. */
const SLOW_MS = 300_000;

/** For snapshots and forks. */
const COPY_MS = 3_600_000;

/** The longest time for which one request waits for a state. */
const POLL_MS = 30_000;
const GRACE_MS = 30_000;

/** Stops paging if the server never returns a last page. */
const MAX_SANDBOXES = 100_000;

export interface StartOptions extends CommandOptions, CallOptions {
  /** whether the standard input stays open; default false */
  stdin?: boolean;
}

export interface TerminalOptions extends CommandOptions, CallOptions, Partial<TerminalSize> {}

export interface ForkOptions extends CallOptions {
  /** default 1 */
  count?: number;
  /** `filesystem`, the default, copies files; with `memory` the processes continue in every fork, where supported */
  kind?: "filesystem" | "memory";
  /** whether to fork the memory of a sandbox that has secret variables */
  allowSecrets?: boolean;
}

export interface DestroyOptions extends CallOptions {
  /** destroy it even if it contains unsaved work */
  force?: boolean;
  /** after which the call fails with DEADLINE_EXCEEDED, while the server continues */
  timeoutMs?: number;
}

export interface SandboxFilter {
  state?: SandboxState[];
  /** `NAME=VALUE`; all of them must match */
  tag?: string[];
  provider?: string;
  name?: string;
  /** an id, a name, or the first characters of an id */
  ref?: string;
}

/**
 * A sandbox on a server.
 *
 * ```ts
 * await using sandbox = await Sandbox.create();
 * console.log((await sandbox.exec("uname -a")).stdout);
 * ```
 *
 * A handle that created its sandbox destroys it when it is disposed of, unless `detach` was called. A handle to an
 * existing sandbox leaves it running. A sandbox whose handle is never disposed of exists until it is destroyed or
 * expires.
 */
export class Sandbox implements AsyncDisposable {
  readonly files: Files;
  readonly ports: Ports;
  /** the hosts that it reaches in network mode `filtered` */
  readonly egress: Egress;
  readonly #transport: Transport;
  readonly #path: string;
  #destroys: boolean;

  /** @internal */
  constructor(
    transport: Transport,
    readonly id: string,
    destroys: boolean,
  ) {
    this.#transport = transport;
    this.#path = apiPath("sandboxes", id);
    this.#destroys = destroys;
    this.files = new Files(transport, this.#path);
    this.ports = new Ports(transport, this.#path);
    this.egress = new Egress(transport, this.#path);
  }

  /** Creates a sandbox. Without `url` and `key`, the server is that of `ISOLA_URL` and `ISOLA_API_KEY`. */
  static async create(spec: CreateSandboxRequest = {}, options: ConnectOptions & CallOptions = {}): Promise<Sandbox> {
    return createSandbox(new Transport(settingsOf(options)), spec, options);
  }

  /** Returns a handle to an existing sandbox, without checking that it exists. */
  static attach(id: string, options: ConnectOptions = {}): Sandbox {
    return new Sandbox(new Transport(settingsOf(options)), id, false);
  }

  /** Lists sandboxes, oldest first. */
  static async list(filter: SandboxFilter = {}, options: ConnectOptions & CallOptions = {}): Promise<SandboxInfo[]> {
    return listSandboxes(new Transport(settingsOf(options)), filter, options);
  }

  async info(call: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.get(this.#path, call);
  }

  /** Returns the state, health, usage and latest errors. Neither resumes the sandbox nor counts as use of it. */
  async status(call: CallOptions = {}): Promise<SandboxStatus> {
    return this.#transport.get(`${this.#path}/status`, call);
  }

  async usage(call: CallOptions = {}): Promise<SandboxUsage> {
    return this.#transport.get(`${this.#path}/usage`, call);
  }

  /**
   * Waits until the sandbox is in one of the states. Fails with DeadlineExceeded after `timeoutMs`, default one minute,
   * and at once with Conflict if it can no longer reach them.
   */
  async awaitState(
    states: SandboxState | SandboxState[],
    options: CallOptions & { timeoutMs?: number } = {},
  ): Promise<SandboxInfo> {
    const deadline = Date.now() + (options.timeoutMs ?? 60_000);
    while (true) {
      const left = Math.max(0, deadline - Date.now());
      const timeoutMs = Math.min(left, POLL_MS);
      const query = { state: Array.isArray(states) ? states : [states], timeoutMs };
      const request: ApiRequest = { timeoutMs: timeoutMs + GRACE_MS, signal: options.signal };
      try {
        return await this.#transport.get(withQuery(`${this.#path}/wait`, query), request);
      } catch (error) {
        if (!(error instanceof DeadlineExceeded) || error.code === "CANCELLED" || left <= POLL_MS) {
          throw error;
        }
      }
    }
  }

  /**
   * Runs a command and waits for its end. Its output arrives as it is written, and continues after a broken connection
   * or a restart of the server. If the call is aborted or fails, the command is killed. The command is never repeated.
   */
  async exec(command: Command, options: ExecOptions = {}): Promise<ExecResult> {
    const { stdin, signal } = options;
    const execution = await this.#start({ ...commandDocument(command, options), stdin: stdin !== undefined }, { signal });
    return complete(execution, options);
  }

  /** Starts a command in the background. */
  async start(command: Command, options: StartOptions = {}): Promise<Execution> {
    return this.#start({ ...commandDocument(command, options), stdin: options.stdin ?? false }, options);
  }

  async #start(body: unknown, { signal }: CallOptions): Promise<Execution> {
    const started = await this.#transport.post<StartedExecution>(`${this.#path}/executions`, body, { signal });
    return this.execution(started.id);
  }

  /** Returns a handle to an execution, whose output starts at `offset`. */
  execution(id: string, offset = 0): Execution {
    return new Execution(this.#transport, this.#path, id, offset);
  }

  async executions(call: CallOptions = {}): Promise<ExecutionInfo[]> {
    return (await this.#transport.get<ExecutionList>(`${this.#path}/executions`, call)).executions;
  }

  /** Starts a command on a terminal; without one, a shell. */
  async terminal(command: Command = ["/bin/sh"], options: TerminalOptions = {}): Promise<Terminal> {
    const { rows = 24, cols = 80, signal } = options;
    const body = { ...commandDocument(command, options), terminal: { rows, cols } };
    const started = await this.#transport.post<StartedExecution>(`${this.#path}/executions`, body, { signal });
    return this.attach(started.id);
  }

  /** Attaches to a command on a terminal; its output starts at `offset`. */
  attach(id: string, offset = 0): Terminal {
    return new Terminal(this.#transport, this.#path, id, offset);
  }

  /** Streams the lifecycle events of this sandbox. */
  async events(options: CallOptions & { type?: string[] } = {}): Promise<EventStream> {
    const { type, signal } = options;
    return EventStream.open(this.#transport, { sandbox: [this.id], ...(type && { type }) }, signal);
  }

  /** Takes a snapshot; without options, of everything that the sandbox wrote. */
  async snapshot(options: CreateSnapshotRequest = {}, call: CallOptions = {}): Promise<CreatedSnapshot> {
    return this.#transport.post(`${this.#path}/snapshots`, options, { ...call, timeoutMs: COPY_MS });
  }

  /**
   * Creates sandboxes with a copy of the current files. If one of them fails, the others are destroyed and its error is
   * thrown; `forkEach` returns the result of each.
   */
  async fork(options: ForkOptions = {}): Promise<Sandbox[]> {
    const forks = await this.forkEach(options);
    const created = forks.flatMap((fork) => (fork.sandbox ? [new Sandbox(this.#transport, fork.sandbox.id, true)] : []));
    const failed = forks.find((fork) => fork.error)?.error;
    if (failed) {
      const ends = await Promise.allSettled(created.map((sandbox) => sandbox[Symbol.asyncDispose]()));
      const left = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
      const { code, detail } = failed;
      const hint = left.length === 0 ? "" : `${left.length} other forks could not be destroyed`;
      const cause = left.length === 0 ? undefined : new AggregateError(left);
      throw errorOf({ code, category: "PROVIDER", status: 0, detail, hint, sandboxId: this.id, requestId: "" }, cause);
    }
    return created;
  }

  /** Forks this sandbox and returns for each fork the created sandbox or the error. */
  async forkEach(options: ForkOptions = {}): Promise<Fork[]> {
    const { count = 1, kind = "filesystem", allowSecrets, signal } = options;
    const body = { count, kind, ...(allowSecrets && { allowSecrets }) };
    return (await this.#transport.post<ForkList>(`${this.#path}/fork`, body, { timeoutMs: COPY_MS, signal })).forks;
  }

  /** Creates a token that is limited to this sandbox, for a client without a key. */
  async token(scope: TokenScope, ttlSeconds: number, call: CallOptions = {}): Promise<Token> {
    return this.#transport.post(`${this.#path}/tokens`, { scope, ttlSeconds }, call);
  }

  /** Sets the expiry to `ttlSeconds` from now. */
  async renew(ttlSeconds: number, call: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.post(`${this.#path}/renew`, { ttlSeconds }, call);
  }

  /** Suspends all processes and keeps them in memory. */
  async pause(call: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.post(`${this.#path}/pause`, {}, { ...call, timeoutMs: SLOW_MS });
  }

  /** Ends all processes and keeps the files. */
  async stop(call: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.post(`${this.#path}/stop`, {}, { ...call, timeoutMs: SLOW_MS });
  }

  /** Resumes a paused or stopped sandbox. */
  async resume(call: CallOptions = {}): Promise<SandboxInfo> {
    return this.#transport.post(`${this.#path}/resume`, {}, { ...call, timeoutMs: SLOW_MS });
  }

  /** Destroys the sandbox. Resolves when nothing is left of it. */
  async destroy(options: DestroyOptions = {}): Promise<void> {
    const { force, timeoutMs, signal } = options;
    const request = { timeoutMs: timeoutMs === undefined ? SLOW_MS : timeoutMs + GRACE_MS, signal };
    await this.#transport.delete(withQuery(this.#path, { force: force || undefined, timeoutMs }), request);
    this.#destroys = false;
  }

  /** Makes the end of this handle leave the sandbox running. Returns this handle. */
  detach(): this {
    this.#destroys = false;
    return this;
  }

  /** Destroys the sandbox if this handle created it and was not detached. A second call after an error tries again. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#destroys) {
      return;
    }
    try {
      await this.destroy();
    } catch (error) {
      if (!(error instanceof NotFound || error instanceof Gone)) {
        throw error;
      }
      this.#destroys = false; // it is destroyed already
    }
  }
}

/** Creates a sandbox. A repeated request has the same idempotency key, so that no second sandbox is created. */
export async function createSandbox(transport: Transport, spec: CreateSandboxRequest, call: CallOptions): Promise<Sandbox> {
  const created = await transport.post<SandboxInfo>(apiPath("sandboxes"), spec, {
    repeatable: true,
    headers: { "Idempotency-Key": crypto.randomUUID() },
    timeoutMs: CREATE_MS,
    signal: call.signal,
  });
  return new Sandbox(transport, created.id, true);
}

export async function listSandboxes(
  transport: Transport,
  filter: SandboxFilter,
  { signal }: CallOptions,
): Promise<SandboxInfo[]> {
  const all: SandboxInfo[] = [];
  let cursor: string | undefined;
  do {
    const path = withQuery(apiPath("sandboxes"), { limit: 1000, ...filter, cursor });
    const page = await transport.get<SandboxList>(path, { signal });
    all.push(...page.sandboxes);
    cursor = page.next;
  } while (cursor !== undefined && all.length < MAX_SANDBOXES);
  return all;
}
