/** Content to send. A stream is read once. */
export type UploadContent = string | Uint8Array | Blob | ReadableStream<Uint8Array>;

/** Receives the number of bytes that were transferred so far. */
export type Progress = (bytes: number) => void;

/** Larger content is sent in pieces, so that its progress is seen. */
const PIECE = 1 << 20;

/** Browsers cannot send a stream over HTTP/1.1; they send its content once it is complete. */
const sendsStreams = "process" in globalThis;

/** The body of a request, whose progress can be followed. */
export class Upload {
  /** why the content could not be read, if that is the reason for a failed request */
  failure: unknown;
  #sent = 0;

  constructor(
    readonly content: UploadContent,
    readonly type: string,
    readonly progress?: Progress | undefined,
  ) {}

  /** @param onProgress called whenever a piece was sent */
  async start(onProgress: () => void): Promise<BodyInit> {
    const { content } = this;
    if (typeof content === "string" || content instanceof Uint8Array || content instanceof Blob) {
      const blob = content instanceof Blob ? content : new Blob([content as BlobPart]);
      if (!sendsStreams || (blob.size <= PIECE && !this.progress)) {
        return blob;
      }
      return this.#follow(blob.stream(), onProgress);
    }
    const counted = this.#follow(content, onProgress);
    return sendsStreams ? counted : new Response(counted).blob();
  }

  #follow(content: ReadableStream<Uint8Array>, onProgress: () => void): ReadableStream<Uint8Array> {
    const reader = content.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { value, done } = await reader.read();
            if (done) {
              controller.close();
              return;
            }
            controller.enqueue(value);
            this.#sent += value.length;
            this.progress?.(this.#sent);
            onProgress();
          } catch (error) {
            this.failure = error;
            throw error;
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }
}
