import { errorOfEvent } from "./errors.js";
import type { Execution as ExecutionInfo, Exit } from "./generated/models.js";
import type { CallOptions } from "./options.js";
import { decodeData, decodeExit, endOf, integer, OutputDispatcher, type Output, type OutputCallbacks } from "./output.js";
import { withQuery } from "./path.js";
import { ReconnectingEvents } from "./reconnect.js";
import type { ServerEvent } from "./sse.js";
import type { Transport } from "./transport.js";
import { Upload, type UploadContent } from "./upload.js";

/**
 * A command that runs in the background. Its output resumes by itself after a broken connection or a restart of the
 * server: nothing is delivered twice, and output that is no longer stored is a gap. Breaking off the iteration, or
 * disposing of the handle, stops reading and not the command.
 */
export class Execution implements AsyncIterable<Output>, AsyncDisposable {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #events: ReconnectingEvents;
  #offset: number;
  #exit: Exit | undefined;

  /** @internal */
  constructor(
    transport: Transport,
    sandboxPath: string,
    readonly id: string,
    offset: number,
  ) {
    this.#transport = transport;
    this.#path = `${sandboxPath}/executions/${encodeURIComponent(id)}`;
    this.#offset = offset;
    this.#events = new ReconnectingEvents(transport, () => withQuery(`${this.#path}/output`, { offset: this.#offset }));
  }

  /** The offset of the next output. Pass it with `id` to `sandbox.execution` to continue later. */
  get offset(): number {
    return this.#offset;
  }

  /** How the command ended; undefined until all output was read. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  async info(call: CallOptions = {}): Promise<ExecutionInfo> {
    return this.#transport.get(this.#path, call);
  }

  /** Returns the next output, or undefined once the command has ended and all output was read. */
  async read(call: CallOptions = {}): Promise<Output | undefined> {
    const onAbort = () => this.#events.close(call.signal?.reason);
    if (call.signal?.aborted) {
      onAbort();
    }
    call.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return this.#exit === undefined ? ((await this.#events.next((event) => this.#decode(event))) ?? undefined) : undefined;
    } finally {
      call.signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Returns null at the end, and undefined for an event without output. */
  #decode(event: ServerEvent): Output | null | undefined {
    const { type, data } = event;
    if (type === "output") {
      return this.#advance(decodeData(data, this.#offset));
    }
    if (type === "gap") {
      const gap: Output = { type: "gap", offset: integer(data, "offset"), lost: integer(data, "lost") };
      return endOf(gap) <= this.#offset ? undefined : this.#advance(gap);
    }
    if (type === "exit") {
      this.#exit = decodeExit(data);
      this.#events.disconnect();
      return null;
    }
    if (type === "error") {
      throw errorOfEvent(data);
    }
    return undefined; // an event of a newer server
  }

  #advance<T extends Output>(output: T | undefined): T | undefined {
    this.#offset = output === undefined ? this.#offset : endOf(output);
    return output;
  }

  /** Iterates over the remaining output. A slow consumer slows down the command. */
  async *output(call: CallOptions = {}): AsyncGenerator<Output, void, void> {
    try {
      for (let piece = await this.read(call); piece; piece = await this.read(call)) {
        yield piece;
      }
    } finally {
      this.#events.disconnect();
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<Output, void, void> {
    return this.output();
  }

  /** Passes the remaining output to the callbacks, discards the rest, and returns how the command ended. */
  async wait(options: OutputCallbacks & CallOptions = {}): Promise<Exit> {
    const dispatcher = new OutputDispatcher(options);
    for await (const piece of this.output(options)) {
      dispatcher.accept(piece); // unread output would block the command
    }
    dispatcher.end();
    return this.#exit ?? { kind: "lost", why: "the output ended before the command" };
  }

  /** Writes to the standard input. Resolves when the sandbox has taken the bytes. */
  async write(content: string | Uint8Array, call: CallOptions = {}): Promise<void> {
    await this.#send(content, false, call);
  }

  /** Closes the standard input. */
  async closeStdin(call: CallOptions = {}): Promise<void> {
    await this.#send("", true, call);
  }

  /** Sends the whole content as standard input, and closes it. Waits while the command does not read. */
  async send(content: UploadContent, call: CallOptions = {}): Promise<void> {
    await this.#send(content, true, call);
  }

  /** Has no timeout: the command may read slowly. */
  async #send(content: UploadContent, close: boolean, call: CallOptions): Promise<void> {
    const path = withQuery(`${this.#path}/stdin`, { close: close || undefined });
    await this.#transport.upload("POST", path, new Upload(content, "application/octet-stream"), { ...call, timeoutMs: 0 });
  }

  /** Sends a signal such as TERM, SIGTERM or 15. */
  async signal(signal: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.post(`${this.#path}/signal`, { signal }, call);
  }

  /** Kills the command and all its descendants. */
  async kill(call: CallOptions = {}): Promise<void> {
    await this.signal("KILL", call);
  }

  /** Stops reading. The command continues. */
  close(): void {
    this.#events.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
