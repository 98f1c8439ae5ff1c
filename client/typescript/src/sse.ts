import { concat, type ResponseBody } from "./response.js";

const MAX_EVENT = 8 << 20;
const NEWLINE = 10;

export interface ServerEvent {
  type: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events whose data are JSON objects. */
export class EventReader {
  readonly #body: ResponseBody;
  readonly #decoder = new TextDecoder();
  #buffer: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** the last id that the server sent, with an event or without; empty if none */
  lastId = "";

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  /** Returns the next event, or undefined at the end. An incomplete event is discarded. */
  async next(): Promise<ServerEvent | undefined> {
    let type = "message";
    let id = "";
    let data = "";
    for (let line = await this.#line(); line !== undefined; line = await this.#line()) {
      if (line === "") {
        this.lastId = id || this.lastId;
        if (data !== "") {
          return { type, data: this.#parse(data) };
        }
        type = "message";
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
      if (field === "event") {
        type = value;
      } else if (field === "id") {
        id = value;
      } else if (field === "data") {
        if (data.length + value.length > MAX_EVENT) {
          throw this.#malformed();
        }
        data += (data === "" ? "" : "\n") + value;
      } // else a comment, or a field of a newer server
    }
    return undefined;
  }

  cancel(): void {
    this.#body.cancel();
  }

  #parse(data: string): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      // reported below
    }
    if (typeof value !== "object" || value === null) {
      throw this.#malformed();
    }
    return value as Record<string, unknown>;
  }

  #malformed(): MalformedStream {
    this.cancel();
    return new MalformedStream("an event of the server is malformed or too long");
  }

  async #line(): Promise<string | undefined> {
    const parts: Uint8Array[] = [];
    let length = 0;
    while (true) {
      if (this.#at === this.#buffer.length) {
        const chunk = await this.#body.next();
        if (chunk === undefined) {
          return undefined;
        }
        this.#buffer = chunk;
        this.#at = 0;
      }
      const newline = this.#buffer.indexOf(NEWLINE, this.#at);
      const stop = newline < 0 ? this.#buffer.length : newline;
      const part = this.#buffer.subarray(this.#at, stop);
      this.#at = newline < 0 ? stop : stop + 1;
      parts.push(part);
      length += part.length;
      if (length > MAX_EVENT) {
        throw this.#malformed();
      }
      if (newline >= 0) {
        const line = parts.length === 1 ? part : concat(parts, length);
        return this.#decoder.decode(line).replace(/\r$/, "");
      }
    }
  }
}

/** The peer does not follow the protocol. */
export class MalformedStream extends Error {}
