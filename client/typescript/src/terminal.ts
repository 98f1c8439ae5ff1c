import { pause, unreachable } from "./call.js";
import { cancelled, clientError, errorOfEvent } from "./errors.js";
import type { Exit } from "./generated/models.js";
import type { CallOptions } from "./options.js";
import { decodeExit, integer, outputData, type Output } from "./output.js";
import { withQuery } from "./path.js";
import { Backoff } from "./reconnect.js";
import { MalformedStream } from "./sse.js";
import { TerminalSocket, type Message } from "./socket.js";
import { isTransient, type Transport } from "./transport.js";

/** The server takes frames of at most 64 KiB. */
const FRAME = 32 * 1024;
const RETRY_MS = 50;

export interface TerminalSize {
  rows: number;
  cols: number;
}

/**
 * A command on a terminal. Attaches again by itself after a broken connection or a restart of the server. Keys in
 * transit when the connection broke may or may not have arrived. Disposing of the handle detaches; the command
 * continues.
 */
export class Terminal implements AsyncIterable<Output>, AsyncDisposable {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  #socket: Promise<TerminalSocket> | undefined;
  #size: TerminalSize | undefined;
  #offset: number;
  #repeated = 0;
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
    this.#backoff = new Backoff(transport.settings.reconnectForMs);
  }

  /** The offset of the next output. Pass it with `id` to `sandbox.attach` to continue later. */
  get offset(): number {
    return this.#offset;
  }

  /** How the command ended; undefined until all output was read. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Returns the next output, or undefined once the command has ended and all output was read. */
  async read(call: CallOptions = {}): Promise<Output | undefined> {
    const onAbort = () => this.close();
    if (call.signal?.aborted) {
      onAbort();
    }
    call.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      while (this.#exit === undefined) {
        try {
          const output = this.#decode(await (await this.#connected()).next());
          if (output) {
            return output;
          }
        } catch (error) {
          await this.#recover(error);
        }
      }
      return undefined;
    } finally {
      call.signal?.removeEventListener("abort", onAbort);
    }
  }

  async *output(call: CallOptions = {}): AsyncGenerator<Output, void, void> {
    for (let piece = await this.read(call); piece; piece = await this.read(call)) {
      yield piece;
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<Output, void, void> {
    return this.output();
  }

  /** Discards the remaining output and returns how the command ended. */
  async wait(call: CallOptions = {}): Promise<Exit> {
    while (await this.read(call)) {
      // unread output would block the command
    }
    return this.#exit ?? { kind: "lost", why: "the output ended before the command" };
  }

  #connected(): Promise<TerminalSocket> {
    if (this.#closing.signal.aborted) {
      throw cancelled();
    }
    return (this.#socket ??= this.#connect());
  }

  async #connect(): Promise<TerminalSocket> {
    const { url, key, webSocket } = this.#transport.settings;
    const path = withQuery(`${this.#path}/terminal`, { offset: this.#offset });
    let socket: TerminalSocket;
    try {
      socket = await TerminalSocket.open(webSocket, url.replace(/^http/, "ws") + path, key);
    } catch (error) {
      if (error instanceof Error && error.name === "Unsupported") {
        throw error;
      }
      // A refused WebSocket has no reason; a request for the execution fails with it.
      await this.#transport.get(this.#path, { signal: this.#closing.signal, attempts: 1 });
      throw unreachable(url, error);
    }
    if (this.#closing.signal.aborted) {
      socket.close();
      throw cancelled();
    }
    if (this.#size) {
      socket.send(JSON.stringify({ type: "resize", ...this.#size }));
    }
    return socket;
  }

  async #recover(error: unknown): Promise<void> {
    this.#disconnect();
    if (this.#closing.signal.aborted) {
      throw cancelled();
    }
    if (error instanceof MalformedStream) {
      throw clientError("INTERNAL", error.message, "check that the URL belongs to an Isola server", error);
    }
    if (!isTransient(error)) {
      throw error;
    }
    await this.#backoff.retry(error, this.#closing.signal);
  }

  #disconnect(): void {
    const old = this.#socket;
    this.#socket = undefined;
    old?.then(
      (socket) => socket.close(),
      () => {}, // it was never open; the call that waits for it has the error
    );
  }

  #decode(message: Message): Output | undefined {
    if (message.type === "closed") {
      throw unreachable(this.#transport.settings.url, `the connection was closed with status ${message.code}`);
    }
    this.#backoff.received();
    if (message.type === "text") {
      return this.#decodeText(message.text);
    }
    const known = Math.min(this.#repeated, message.bytes.length);
    this.#repeated -= known;
    const data = outputData("terminal", this.#offset, message.bytes.subarray(known));
    this.#offset += data.bytes.length;
    return data.bytes.length === 0 ? undefined : data;
  }

  #decodeText(text: string): Output | undefined {
    const message = parse(text);
    switch (message["type"]) {
      case "attached":
      case "gap":
        return this.#skipTo(integer(message, "offset"));
      case "exit":
        this.#exit = decodeExit(message);
        this.#disconnect();
        return undefined;
      case "error":
        throw errorOfEvent(message);
      default:
        return undefined; // a message of a newer server
    }
  }

  #skipTo(to: number): Output | undefined {
    this.#repeated = Math.max(0, this.#offset - to);
    if (to <= this.#offset) {
      return undefined;
    }
    const gap: Output = { type: "gap", offset: this.#offset, lost: to - this.#offset };
    this.#offset = to;
    return gap;
  }

  /** Types. Waits while the connection is lost, as long as the client may try to reconnect. */
  async write(keys: string | Uint8Array, call: CallOptions = {}): Promise<void> {
    const bytes = typeof keys === "string" ? new TextEncoder().encode(keys) : Uint8Array.from(keys);
    for (let at = 0; at < bytes.length; at += FRAME) {
      (await this.#writable(call)).send(bytes.slice(at, at + FRAME));
    }
  }

  async #writable(call: CallOptions): Promise<TerminalSocket> {
    const until = Date.now() + this.#transport.settings.reconnectForMs;
    while (true) {
      try {
        const socket = await this.#connected();
        if (socket.isOpen) {
          return socket;
        }
        throw unreachable(this.#transport.settings.url, "the connection is closed");
      } catch (error) {
        if (!isTransient(error) || this.#exit !== undefined || Date.now() > until) {
          throw error;
        }
        this.#disconnect();
      }
      await pause(RETRY_MS, call.signal);
    }
  }

  /** Sets the size of the window. It is sent again after each reconnection. */
  async resize(size: TerminalSize, call: CallOptions = {}): Promise<void> {
    this.#size = { rows: size.rows, cols: size.cols };
    (await this.#writable(call)).send(JSON.stringify({ type: "resize", ...this.#size }));
  }

  /** Sends a signal such as TERM, SIGTERM or 15. */
  async signal(signal: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.post(`${this.#path}/signal`, { signal }, call);
  }

  /** Kills the command and all its descendants. */
  async kill(call: CallOptions = {}): Promise<void> {
    await this.signal("KILL", call);
  }

  /** Detaches. The command continues. */
  close(): void {
    this.#closing.abort();
    this.#disconnect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) {
      return value as Record<string, unknown>;
    }
  } catch {
    // reported below
  }
  throw new MalformedStream("a message of the terminal is malformed");
}
