import type { EventType } from "./generated/models.js";
import { integer } from "./output.js";
import { apiPath, withQuery } from "./path.js";
import { ReconnectingEvents } from "./reconnect.js";
import type { ServerEvent } from "./sse.js";
import type { Transport } from "./transport.js";

/** A lifecycle event. `number` increases; pass it as `after` to continue behind the event. */
export interface LifecycleEvent {
  number: number;
  type: EventType | (string & {});
  at: string;
  sandbox?: string;
  data: Record<string, unknown>;
}

export interface EventFilter {
  type?: string[];
  sandbox?: string[];
  /** number of the event to continue behind; without it, new events only */
  after?: number;
}

/** Lifecycle events. Resumes by itself after a broken connection or a restart of the server. */
export class EventStream implements AsyncIterable<LifecycleEvent>, AsyncDisposable {
  readonly #events: ReconnectingEvents;
  #after: number | undefined;

  private constructor(transport: Transport, filter: EventFilter) {
    this.#after = filter.after;
    this.#events = new ReconnectingEvents(transport, (lastId) => {
      // The server also sends its position without an event.
      if (/^\d{1,15}$/.test(lastId)) {
        this.#after = Math.max(Number(lastId), this.#after ?? 0);
      }
      return withQuery(apiPath("events"), { type: filter.type, sandbox: filter.sandbox, after: this.#after });
    });
  }

  /** Connects at once, so that no event is missed before the first one is read. @internal */
  static async open(transport: Transport, filter: EventFilter, signal: AbortSignal | undefined): Promise<EventStream> {
    const stream = new EventStream(transport, filter);
    if (signal?.aborted) {
      stream.#events.close(signal.reason);
    }
    signal?.addEventListener("abort", () => stream.#events.close(signal.reason), { once: true });
    await stream.#events.connect();
    return stream;
  }

  /** Returns the next event. Waits for it as long as the stream is open. */
  async next(): Promise<LifecycleEvent> {
    return this.#events.next((event) => this.#decode(event));
  }

  #decode({ data }: ServerEvent): LifecycleEvent {
    this.#after = integer(data, "number");
    return data as unknown as LifecycleEvent;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LifecycleEvent, void, void> {
    try {
      while (!this.#events.closed) {
        yield await this.next();
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#events.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
