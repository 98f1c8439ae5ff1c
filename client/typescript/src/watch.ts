import { errorOfEvent } from "./errors.js";
import { ReconnectingEvents } from "./reconnect.js";
import type { ServerEvent } from "./sse.js";
import type { Transport } from "./transport.js";

export type ChangeKind =
  | "created"
  | "modified"
  | "removed"
  | "moved_from"
  | "moved_to"
  | "attributes"
  /** changes were lost, because there were too many or the connection broke: list the folder */
  | "overflow"
  /** the watched folder was removed; the watch has ended */
  | "gone"
  /** a kind that this client does not know */
  | "other";

const KINDS: ReadonlySet<string> = new Set(["created", "modified", "removed", "moved_from", "moved_to", "attributes"]);

/** A change in a watched folder. `path` is empty for `overflow` and `gone`. */
export interface FileChange {
  kind: ChangeKind;
  path: string;
  isFolder: boolean;
}

/**
 * Changes in a folder of a sandbox. After a broken connection or a restart of the server the watch is established
 * again, and a change of kind `overflow` says that changes may be missing.
 */
export class FileWatch implements AsyncIterable<FileChange>, AsyncDisposable {
  readonly #events: ReconnectingEvents;
  #established = false;
  #ended = false;

  private constructor(transport: Transport, path: string) {
    this.#events = new ReconnectingEvents(transport, () => path);
  }

  /** @internal */
  static async open(transport: Transport, path: string, signal: AbortSignal | undefined): Promise<FileWatch> {
    const watch = new FileWatch(transport, path);
    if (signal?.aborted) {
      watch.#events.close(signal.reason);
    }
    signal?.addEventListener("abort", () => watch.#events.close(signal.reason), { once: true });
    await watch.#events.next((event) => {
      watch.#decode(event);
      return watch.#established || watch.#ended || undefined;
    });
    return watch;
  }

  /** Returns the next change, or undefined once the watch was closed or the folder was removed. */
  async next(): Promise<FileChange | undefined> {
    if (this.#ended || this.#events.closed) {
      return undefined;
    }
    try {
      return await this.#events.next((event) => this.#decode(event));
    } catch (error) {
      if (this.#events.closed) {
        return undefined;
      }
      throw error;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FileChange, void, void> {
    try {
      for (let change = await this.next(); change; change = await this.next()) {
        yield change;
      }
    } finally {
      this.close();
    }
  }

  #decode({ type, data }: ServerEvent): FileChange | undefined {
    switch (type) {
      case "watching": {
        const again = this.#established;
        this.#established = true;
        return again ? { kind: "overflow", path: "", isFolder: true } : undefined;
      }
      case "change": {
        const kind = String(data["kind"]).toLowerCase();
        return {
          kind: KINDS.has(kind) ? (kind as ChangeKind) : "other",
          path: String(data["path"]),
          isFolder: data["folder"] === true,
        };
      }
      case "overflow":
        return { kind: "overflow", path: "", isFolder: true };
      case "gone":
        this.#ended = true;
        this.#events.disconnect();
        return { kind: "gone", path: "", isFolder: true };
      case "error":
        throw errorOfEvent(data);
      default:
        return undefined; // an event of a newer server
    }
  }

  close(): void {
    this.#events.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
