import { clientError } from "./errors.js";
import type { WebSocketConstructor } from "./options.js";

const CONNECT_MS = 10_000;

/** A WebSocket cannot be told to wait; a reader that lags behind by more is disconnected, and attaches again. */
const MAX_UNREAD = 4 << 20;

export type Message = { type: "bytes"; bytes: Uint8Array } | { type: "text"; text: string } | { type: "closed"; code: number };

/** A connection to a terminal, read message by message. */
export class TerminalSocket {
  readonly #socket: WebSocket;
  readonly #messages: Message[] = [];
  #unread = 0;
  #wake: (() => void) | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", (event: MessageEvent<string | ArrayBuffer>) => this.#receive(event.data));
    socket.addEventListener("close", (event: CloseEvent) => this.#add({ type: "closed", code: event.code }));
  }

  /** Opens a connection. Rejects if the server refuses it; a WebSocket does not tell why. */
  static open(type: WebSocketConstructor | undefined, url: string, key: string): Promise<TerminalSocket> {
    if (type === undefined) {
      throw clientError(
        "NOT_IMPLEMENTED",
        "this runtime has no global WebSocket",
        "use Node.js 22 or later, or pass a constructor as the option webSocket, such as that of the package ws",
      );
    }
    // A web page cannot send a header; the server neither echoes nor logs the second protocol.
    const socket = new type(url, ["isola.terminal.v1", `isola.bearer.${key}`]);
    socket.binaryType = "arraybuffer";
    const opened = new TerminalSocket(socket);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(), CONNECT_MS);
      const fail = () => {
        clearTimeout(timer);
        socket.close();
        reject(new Error("the WebSocket was not opened"));
      };
      socket.addEventListener("error", fail, { once: true });
      socket.addEventListener("close", fail, { once: true });
      socket.addEventListener(
        "open",
        () => {
          clearTimeout(timer);
          resolve(opened);
        },
        { once: true },
      );
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === 1;
  }

  #receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      this.#unread += data.length;
      this.#add({ type: "text", text: data });
    } else {
      this.#unread += data.byteLength;
      this.#add({ type: "bytes", bytes: new Uint8Array(data) });
    }
    if (this.#unread > MAX_UNREAD) {
      this.#socket.close();
    }
  }

  #add(message: Message): void {
    this.#messages.push(message);
    this.#wake?.();
  }

  async next(): Promise<Message> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const message = this.#messages.shift() as Message;
    this.#unread -= message.type === "bytes" ? message.bytes.length : message.type === "text" ? message.text.length : 0;
    return message;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(data);
  }

  close(): void {
    this.#socket.close();
    this.#add({ type: "closed", code: 1000 }); // wakes up a waiting reader
  }
}
