import { pause, unreachable } from "./call.js";
import { cancelled, clientError, IsolaError } from "./errors.js";
import { EventReader, MalformedStream, type ServerEvent } from "./sse.js";
import { isTransient, type Transport } from "./transport.js";

const INITIAL_MS = 50;
const MAX_MS = 1000;

/** Pauses between attempts to reconnect, up to a total time without success. */
export class Backoff {
  #failingSince: number | undefined;
  #delay = INITIAL_MS;

  constructor(readonly forMs: number) {}

  received(): void {
    this.#failingSince = undefined;
    this.#delay = INITIAL_MS;
  }

  /** Waits before the next attempt, or throws `failure` if the time is up. */
  async retry(failure: Error, signal: AbortSignal | undefined): Promise<void> {
    this.#failingSince ??= Date.now();
    if (Date.now() - this.#failingSince > this.forMs) {
      throw failure;
    }
    await pause(this.#delay, signal);
    this.#delay = Math.min(MAX_MS, this.#delay * 2);
  }
}

/** An event stream that reconnects at its position after a broken connection or a restart of the server. */
export class ReconnectingEvents {
  readonly #transport: Transport;
  readonly #path: (lastId: string) => string;
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  #reader: EventReader | undefined;
  #lastId = "";

  /** @param path returns the path to connect at */
  constructor(transport: Transport, path: (lastId: string) => string) {
    this.#transport = transport;
    this.#path = path;
    this.#backoff = new Backoff(transport.settings.reconnectForMs);
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  async connect(): Promise<EventReader> {
    const headers = { Accept: "text/event-stream" };
    const body = await this.#transport.open("GET", this.#path(this.#lastId), {
      headers,
      repeatable: true,
      attempts: 1,
      signal: this.#closing.signal,
    });
    return (this.#reader = new EventReader(body));
  }

  /** Returns the next event for which `decode` has a result. */
  async next<T>(decode: (event: ServerEvent) => T | undefined): Promise<T> {
    while (true) {
      try {
        const event = await (this.#reader ?? (await this.connect())).next();
        if (event === undefined) {
          throw unreachable(this.#transport.settings.url, "the stream ended");
        }
        this.#backoff.received();
        const value = decode(event);
        if (value !== undefined) {
          return value;
        }
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  async #recover(error: unknown): Promise<void> {
    this.disconnect();
    if (this.closed) {
      throw cancelled(this.#closing.signal.reason);
    }
    if (error instanceof MalformedStream) {
      throw clientError("INTERNAL", error.message, "check that the URL belongs to an Isola server", error);
    }
    // A stream that fell silent has a deadline error; the request itself is safe to repeat.
    if (!(isTransient(error) || (error instanceof IsolaError && error.status === 0 && error.code === "DEADLINE_EXCEEDED"))) {
      throw error;
    }
    await this.#backoff.retry(error, this.#closing.signal);
  }

  disconnect(): void {
    this.#lastId = this.#reader?.lastId || this.#lastId;
    this.#reader?.cancel();
    this.#reader = undefined;
  }

  /** Ends the stream; a call that waits for an event fails with CANCELLED. */
  close(reason?: unknown): void {
    this.#closing.abort(reason);
    this.disconnect();
  }
}
