import { MalformedStream } from "./sse.js";
import type { Exit } from "./generated/models.js";

export type Channel = "stdout" | "stderr" | "terminal";

/** Bytes that a command wrote. */
export interface OutputData {
  type: "data";
  channel: Channel;
  /** of the first byte */
  offset: number;
  bytes: Uint8Array;
  /** the bytes as UTF-8; a character that is cut by the end of the piece is U+FFFD */
  readonly text: string;
}

/** Output that is no longer stored. */
export interface OutputGap {
  type: "gap";
  offset: number;
  lost: number;
}

export type Output = OutputData | OutputGap;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function outputData(channel: Channel, offset: number, bytes: Uint8Array): OutputData {
  return {
    type: "data",
    channel,
    offset,
    bytes,
    get text() {
      return decoder.decode(this.bytes);
    },
  };
}

export function endOf(output: Output): number {
  return output.offset + (output.type === "gap" ? output.lost : output.bytes.length);
}

export function integer(event: Record<string, unknown>, name: string): number {
  const value = event[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedStream(`an event has no valid ${name}`);
  }
  return value;
}

function channelOf(name: unknown): Channel {
  if (name === "stdout" || name === "stderr" || name === "terminal") {
    return name;
  }
  throw new MalformedStream("an output event has an unknown channel");
}

function bytesOf(event: Record<string, unknown>): Uint8Array {
  const { data, encoding } = event;
  if (typeof data !== "string") {
    throw new MalformedStream("an output event has no data");
  }
  if (encoding !== "base64") {
    return encoder.encode(data);
  }
  try {
    return Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  } catch {
    throw new MalformedStream("an output event has invalid base64 data");
  }
}

/** Decodes an output event, without what was read before `from`. Undefined if nothing is left. */
export function decodeData(event: Record<string, unknown>, from: number): OutputData | undefined {
  const offset = integer(event, "offset");
  const bytes = bytesOf(event);
  const known = Math.max(0, from - offset);
  return known >= bytes.length ? undefined : outputData(channelOf(event["channel"]), offset + known, bytes.subarray(known));
}

/** Decodes how a command ended. A kind of a newer server becomes `lost`. */
export function decodeExit(event: Record<string, unknown>): Exit {
  const exit = event as unknown as Exit & { exitCode?: number };
  switch (exit.kind) {
    case "exited":
      return { kind: "exited", code: exit.code ?? exit.exitCode ?? 0 };
    case "signaled":
      return { kind: "signaled", signal: exit.signal ?? "?", number: exit.number ?? 0 };
    case "timedOut":
      return { kind: "timedOut", afterMs: exit.afterMs ?? 0 };
    case "outOfMemory":
      return { kind: "outOfMemory" };
    case "lost":
      return { kind: "lost", why: exit.why ?? "unknown reason" };
    default:
      return { kind: "lost", why: `the exit kind '${String(exit.kind)}' is unknown to this client` };
  }
}

/**
 * Returns the code that a shell reports: the exit code, 128 plus the signal number, 124 for a timeout, 137 for out of
 * memory, 255 for a lost command.
 */
export function shellCode(exit: Exit): number {
  switch (exit.kind) {
    case "exited":
      return exit.code ?? 0;
    case "signaled":
      return 128 + (exit.number ?? 0);
    case "timedOut":
      return 124;
    case "outOfMemory":
      return 137;
    case "lost":
      return 255;
  }
}

/** Receives output while a call waits for the end of a command. Text is UTF-8, and no character is cut. */
export interface OutputCallbacks {
  onStdout?: ((text: string) => void) | undefined;
  onStderr?: ((text: string) => void) | undefined;
  onGap?: ((gap: OutputGap) => void) | undefined;
}

/** Passes output to callbacks. */
export class OutputDispatcher {
  readonly #callbacks: OutputCallbacks;
  readonly #out = new TextDecoder();
  readonly #err = new TextDecoder();

  constructor(callbacks: OutputCallbacks) {
    this.#callbacks = callbacks;
  }

  accept(output: Output): void {
    if (output.type === "gap") {
      this.#callbacks.onGap?.(output);
    } else if (output.channel === "stderr") {
      emit(this.#callbacks.onStderr, this.#err.decode(output.bytes, { stream: true }));
    } else {
      emit(this.#callbacks.onStdout, this.#out.decode(output.bytes, { stream: true }));
    }
  }

  end(): void {
    emit(this.#callbacks.onStdout, this.#out.decode());
    emit(this.#callbacks.onStderr, this.#err.decode());
  }
}

function emit(callback: ((text: string) => void) | undefined, text: string): void {
  if (text !== "") {
    callback?.(text);
  }
}

/** Keeps the beginning and the end of what it receives, half of the limit each. */
export class BoundedOutput {
  readonly #half: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  total = 0;
  #dropped = false;

  constructor(limit: number) {
    this.#half = Math.floor(limit / 2);
  }

  add(bytes: Uint8Array): void {
    this.total += bytes.length;
    const first = bytes.subarray(0, Math.max(0, this.#half - this.#headBytes));
    this.#head.push(first);
    this.#headBytes += first.length;
    const rest = bytes.subarray(first.length);
    if (rest.length > 0) {
      this.#tail.push(rest);
      this.#tailBytes += rest.length;
    }
    while (this.#tail[0] && this.#tailBytes - this.#tail[0].length >= this.#half) {
      this.#tailBytes -= this.#tail[0].length;
      this.#tail.shift();
      this.#dropped = true;
    }
  }

  get truncated(): boolean {
    return this.#dropped || this.#tailBytes > this.#half;
  }

  text(): string {
    const excess = Math.max(0, this.#tailBytes - this.#half);
    const all = [...this.#head, ...this.#tail];
    if (excess > 0 && this.#tail[0]) {
      all[this.#head.length] = this.#tail[0].subarray(excess);
    }
    const joined = new TextDecoder();
    return all.map((part) => joined.decode(part, { stream: true })).join("") + joined.decode();
  }
}
