import type { Call } from "./call.js";
import { clientError } from "./errors.js";

/** Idle timeout of a body. The server sends a heartbeat on event streams every ten seconds. */
const IDLE_MS = 45_000;

/** The body of a response, read chunk by chunk. A server that stops sending ends it. */
export class ResponseBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #call: Call;

  constructor(
    readonly headers: Headers,
    body: ReadableStream<Uint8Array> | null,
    call: Call,
  ) {
    this.#reader = body?.getReader();
    this.#call = call;
    call.pause();
  }

  /** Returns the next bytes, or undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    this.#call.expireIn(IDLE_MS, "the server stopped sending");
    try {
      const chunk = await this.#reader?.read();
      if (chunk?.value !== undefined) {
        this.#call.pause();
        return chunk.value;
      }
    } catch (error) {
      const failure = this.#call.failure(error);
      this.#call.end();
      throw failure;
    }
    this.#call.end();
    return undefined;
  }

  /** Stops reading and closes the connection. */
  cancel(): void {
    this.#call.end();
  }

  /** Reads the whole body. */
  async bytes(limit: number, tooLong: () => Error): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (let chunk = await this.next(); chunk; chunk = await this.next()) {
      length += chunk.length;
      if (length > limit) {
        this.cancel();
        throw tooLong();
      }
      chunks.push(chunk);
    }
    return concat(chunks, length);
  }

  /** Reads the body as JSON; an empty body is an empty object. */
  async json(): Promise<unknown> {
    const unreadable = (cause?: unknown) =>
      clientError(
        "INTERNAL",
        `the response of ${this.#call.url} cannot be read`,
        "check that the URL belongs to an Isola server",
        cause,
      );
    const bytes = await this.bytes(64 << 20, unreadable);
    try {
      return bytes.length === 0 ? {} : JSON.parse(new TextDecoder().decode(bytes));
    } catch (error) {
      throw unreadable(error);
    }
  }

  /** Returns the body as a stream, which reads when its consumer does. */
  stream(progress?: (bytes: number) => void): ReadableStream<Uint8Array> {
    let count = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.next();
          if (chunk) {
            count += chunk.length;
            progress?.(count);
            controller.enqueue(chunk);
          } else {
            controller.close();
          }
        },
        cancel: () => this.cancel(),
      },
      { highWaterMark: 0 },
    );
  }
}

export function concat(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
