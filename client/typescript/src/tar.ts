import { clientError, type IsolaError } from "./errors.js";
import { concat } from "./response.js";

/** Files by path: their content, or their content with permission bits. */
export type Tree = Record<string, string | Uint8Array | { content: string | Uint8Array; mode?: number }>;

/** An entry of an archive. */
export interface TreeEntry {
  /** relative to the folder; it never leads out of it */
  path: string;
  type: "file" | "folder" | "link" | "other";
  mode: number;
  /** content of a file; at most 64 MiB */
  bytes: Uint8Array;
  /** target of a link, which may be anywhere */
  linkTarget?: string;
}

const BLOCK = 512;
const MAX_FILE = 64 << 20;
const MAX_HEADER = 1 << 20;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns a tar archive (ustar, with pax headers for long names). */
export function packTree(files: Tree): Blob {
  const parts: BlobPart[] = [];
  for (const [path, file] of Object.entries(files)) {
    const plain = typeof file === "string" || file instanceof Uint8Array;
    const content = plain ? file : file.content;
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    const name = encoder.encode(path);
    if (name.length > 100) {
      const record = paxRecord("path", path);
      parts.push(header(encoder.encode("pax"), 0o644, record.length, "x"), ...padded(record));
    }
    const mode = plain ? undefined : file.mode;
    parts.push(header(name.subarray(0, 100), mode ?? 0o644, bytes.length, "0"), ...padded(bytes));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  return new Blob(parts);
}

function paxRecord(key: string, value: string): Uint8Array {
  const rest = encoder.encode(` ${key}=${value}\n`);
  let length = rest.length;
  while (String(length).length + rest.length !== length) {
    length = String(length).length + rest.length;
  }
  return encoder.encode(`${length} ${key}=${value}\n`);
}

function padded(bytes: Uint8Array): BlobPart[] {
  return [bytes as BlobPart, new Uint8Array(paddingOf(bytes.length))];
}

function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

function header(name: Uint8Array, mode: number, size: number, type: string): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(encoder.encode(text), at);
  const octal = (at: number, length: number, value: number) => put(at, value.toString(8).padStart(length - 1, "0"));
  block.set(name);
  octal(100, 8, mode & 0o7777);
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, size);
  octal(136, 12, Math.floor(Date.now() / 1000));
  put(148, " ".repeat(8));
  put(156, type);
  put(257, "ustar\x0000");
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return block;
}

function bad(why: string): IsolaError {
  return clientError("BAD_ARCHIVE", `the archive cannot be read: ${why}`, "export the folder as an archive instead");
}

/** Reads exact numbers of bytes from a stream. */
class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #left: Uint8Array = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  async take(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let missing = length; missing > 0; ) {
      if (this.#left.length === 0) {
        const { value, done } = await this.#reader.read();
        if (done) {
          throw bad("it ends too early");
        }
        this.#left = value;
      }
      const part = this.#left.subarray(0, missing);
      this.#left = this.#left.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return concat(parts, length);
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** Reads an archive entry by entry. The archive is not trusted. */
export async function* unpackTree(archive: ReadableStream<Uint8Array>): AsyncGenerator<TreeEntry, void, void> {
  const reader = new ByteReader(archive);
  let extended = new Map<string, string>();
  try {
    while (true) {
      const block = await reader.take(BLOCK);
      if (block.every((byte) => byte === 0)) {
        return;
      }
      checkSum(block);
      const type = String.fromCharCode(block[156] ?? 0);
      const isHeader = "xgLK".includes(type);
      const size = Number(extended.get("size") ?? number(block, 124, 12));
      if (!(Number.isSafeInteger(size) && size >= 0 && size <= (isHeader ? MAX_HEADER : MAX_FILE))) {
        throw bad(`an entry has ${size} bytes`);
      }
      const content = await reader.take(size);
      await reader.take(paddingOf(size));
      if (isHeader) {
        readHeader(type, content, extended);
        continue;
      }
      const prefix = text(block, 345, 155);
      const name = extended.get("path") ?? (prefix ? `${prefix}/` : "") + text(block, 0, 100);
      const target = extended.get("linkpath") ?? text(block, 157, 100);
      extended = new Map();
      const path = safePath(name);
      if (path !== "") {
        yield {
          path,
          type: entryType(type),
          mode: number(block, 100, 8) & 0o7777,
          bytes: content,
          ...((type === "1" || type === "2") && { linkTarget: target }),
        };
      }
    }
  } finally {
    await reader.cancel();
  }
}

function entryType(type: string): TreeEntry["type"] {
  switch (type) {
    case "0":
    case "\0":
    case "7":
      return "file";
    case "5":
      return "folder";
    case "1":
    case "2":
      return "link";
    default:
      return "other";
  }
}

function readHeader(type: string, content: Uint8Array, into: Map<string, string>): void {
  if (type === "L" || type === "K") {
    into.set(type === "L" ? "path" : "linkpath", text(content, 0, content.length));
    return;
  }
  if (type === "g") {
    return; // concerns all entries; nothing of it matters here
  }
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = space < 0 ? NaN : Number(decoder.decode(content.subarray(at, space)));
    if (!(Number.isSafeInteger(length) && length > space - at && at + length <= content.length)) {
      throw bad("a header is malformed");
    }
    const record = decoder.decode(content.subarray(space + 1, at + length - 1));
    const equals = record.indexOf("=");
    into.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
}

function safePath(name: string): string {
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (name.startsWith("/") || name.includes("\0") || segments.includes("..")) {
    throw bad(`the name ${JSON.stringify(name)} leads out of the folder`);
  }
  return segments.join("/");
}

function text(block: Uint8Array, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}

function number(block: Uint8Array, at: number, length: number): number {
  const digits = text(block, at, length).trim();
  return digits === "" ? 0 : /^[0-7]+$/.test(digits) ? parseInt(digits, 8) : NaN;
}

function checkSum(block: Uint8Array): void {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== number(block, 148, 8)) {
    throw bad("a checksum is wrong");
  }
}
