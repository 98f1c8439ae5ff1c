import { clientError, NotFound } from "./errors.js";
import type { BatchFilesResponse, FileInfo, FileList, FileOperation, TreeSummary } from "./generated/models.js";
import type { CallOptions } from "./options.js";
import { apiPath, withQuery } from "./path.js";
import { packTree, unpackTree, type Tree, type TreeEntry } from "./tar.js";
import type { Transport } from "./transport.js";
import { Upload, type Progress, type UploadContent } from "./upload.js";
import { FileWatch } from "./watch.js";

/** For removing or moving a large tree. */
const SLOW_MS = 300_000;

/** The largest file that is read into memory unless the caller says otherwise. */
const MAX_IN_MEMORY = 64 << 20;

export interface ReadOptions extends CallOptions {
  /** receives the number of bytes received so far */
  progress?: Progress;
}

export interface WriteOptions extends CallOptions {
  /** permission bits, such as 0o755 */
  mode?: number;
  /** receives the number of bytes sent so far */
  progress?: Progress;
}

export interface InMemoryOptions extends ReadOptions {
  /** the largest file to read, in bytes; default 64 MiB */
  limit?: number;
}

/** Files of a sandbox or a volume. Content is streamed in both directions. */
export class Files {
  readonly #transport: Transport;
  readonly #root: string;
  readonly #path: string;

  /** @internal */
  constructor(transport: Transport, root: string) {
    this.#transport = transport;
    this.#root = root;
    this.#path = `${root}/files`;
  }

  /** Opens a file for reading. Cancel the stream if you do not read it to the end. */
  async read(path: string, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#open("content", { path }, options);
  }

  async #open(
    route: string,
    query: Record<string, string | string[] | undefined>,
    options: ReadOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const request = { repeatable: true, signal: options.signal };
    const body = await this.#transport.open("GET", withQuery(`${this.#path}/${route}`, query), request);
    return body.stream(options.progress);
  }

  async readBytes(path: string, options: InMemoryOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const limit = options.limit ?? MAX_IN_MEMORY;
    const request = { repeatable: true, signal: options.signal };
    const body = await this.#transport.open("GET", withQuery(`${this.#path}/content`, { path }), request);
    const bytes = await body.bytes(limit, () =>
      clientError("INVALID_REQUEST", `${path} has more than ${limit} bytes`, "read it as a stream, or raise the limit"),
    );
    options.progress?.(bytes.length);
    return bytes;
  }

  async readText(path: string, options: InMemoryOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.readBytes(path, options));
  }

  /** Writes a file atomically and creates its parent folders. */
  async write(path: string, content: UploadContent, options: WriteOptions = {}): Promise<FileInfo> {
    const mode = options.mode === undefined ? undefined : octal(options.mode);
    const upload = new Upload(content, "application/octet-stream", options.progress);
    const to = withQuery(`${this.#path}/content`, { path, mode });
    return this.#transport.upload("PUT", to, upload, { signal: options.signal });
  }

  /** Describes a file. Does not follow links. */
  async stat(path: string, call: CallOptions = {}): Promise<FileInfo> {
    return this.#transport.get(withQuery(`${this.#path}/stat`, { path }), call);
  }

  /** Describes a file, or returns undefined if it does not exist. */
  async find(path: string, call: CallOptions = {}): Promise<FileInfo | undefined> {
    try {
      return await this.stat(path, call);
    } catch (error) {
      if (error instanceof NotFound && error.code === "FILE_NOT_FOUND") {
        return undefined;
      }
      throw error;
    }
  }

  /** Lists a folder; at most 10,000 entries. `depth` is the number of levels, 0 for all; default 1. */
  async list(path: string, options: CallOptions & { depth?: number } = {}): Promise<FileInfo[]> {
    const to = withQuery(this.#path, { path, depth: options.depth ?? 1 });
    return (await this.#transport.get<FileList>(to, { signal: options.signal })).entries;
  }

  /** Finds files below a folder by a pattern with *, ?, [a-z] and **; at most 10,000. */
  async glob(path: string, pattern: string, call: CallOptions = {}): Promise<FileInfo[]> {
    return (await this.#transport.get<FileList>(withQuery(`${this.#path}/glob`, { path, pattern }), call)).entries;
  }

  async move(from: string, to: string, options: CallOptions & { replace?: boolean } = {}): Promise<void> {
    const body = { from, to, replace: options.replace ?? false };
    await this.#transport.post(`${this.#path}/move`, body, { timeoutMs: SLOW_MS, signal: options.signal });
  }

  /** Removes a file, a link or a folder; a folder with content only if `recursive` is set. */
  async remove(path: string, options: CallOptions & { recursive?: boolean } = {}): Promise<void> {
    const to = withQuery(this.#path, { path, recursive: options.recursive ?? false });
    await this.#transport.delete(to, { timeoutMs: SLOW_MS, signal: options.signal });
  }

  async changeMode(path: string, mode: number, call: CallOptions = {}): Promise<void> {
    await this.#transport.post(`${this.#path}/mode`, { path, mode: octal(mode) }, call);
  }

  /** Creates a folder and its parents. Does nothing if it exists. */
  async makeFolder(path: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.post(`${this.#path}/folder`, { path }, call);
  }

  /**
   * Executes up to 1,000 small operations in order, in one request. Stops at the first failure unless `keepGoing` is
   * set; the result says what was done.
   */
  async batch(
    operations: FileOperation[],
    options: CallOptions & { keepGoing?: boolean } = {},
  ): Promise<BatchFilesResponse> {
    const body = { operations, keepGoing: options.keepGoing ?? false };
    return this.#transport.post(`${this.#path}/batch`, body, { timeoutMs: SLOW_MS, signal: options.signal });
  }

  /** Opens a folder as a tar archive. Cancel the stream if you do not read it to the end. */
  async exportTree(
    path: string,
    options: ReadOptions & { exclude?: string[] } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#open("tree", { path, exclude: options.exclude }, options);
  }

  /** Unpacks a tar archive into a folder, which is created if it does not exist. */
  async importTree(
    path: string,
    archive: UploadContent,
    options: CallOptions & { progress?: Progress } = {},
  ): Promise<TreeSummary> {
    const upload = new Upload(archive, "application/x-tar", options.progress);
    const to = withQuery(`${this.#path}/tree`, { path });
    return this.#transport.upload("PUT", to, upload, { signal: options.signal });
  }

  /** Writes many files below a folder, in one request. */
  async writeTree(
    path: string,
    files: Tree,
    options: CallOptions & { progress?: Progress } = {},
  ): Promise<TreeSummary> {
    return this.importTree(path, packTree(files), options);
  }

  /** Reads the files below a folder one after the other; see {@link TreeEntry}. */
  async *readTree(
    path: string,
    options: ReadOptions & { exclude?: string[] } = {},
  ): AsyncGenerator<TreeEntry, void, void> {
    yield* unpackTree(await this.exportTree(path, options));
  }

  /** Watches a folder. Resolves once the watch is established: later changes are reported. */
  async watch(path: string, options: CallOptions & { recursive?: boolean } = {}): Promise<FileWatch> {
    const to = withQuery(`${this.#root}/watch`, { path, recursive: options.recursive ?? false });
    return FileWatch.open(this.#transport, to, options.signal);
  }
}

/** @internal */
export function volumeFiles(transport: Transport, name: string): Files {
  return new Files(transport, apiPath("volumes", name));
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
