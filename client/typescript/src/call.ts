import { cancelled, clientError, SERVER_UNREACHABLE, type IsolaError } from "./errors.js";

/** Network errors of Node.js after which no byte of the request was sent. */
const NOT_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/** Returns the code of a network error; fetch hides it in the cause. */
function networkCode(error: unknown): string {
  for (let one: unknown = error, depth = 0; typeof one === "object" && one !== null && depth < 4; depth++) {
    const { code, cause, errors } = one as { code?: unknown; cause?: unknown; errors?: unknown[] };
    if (typeof code === "string") {
      return code;
    }
    one = cause ?? errors?.[0];
  }
  return "";
}

/** A request in progress: it ends when the caller aborts it or when a deadline passes. */
export class Call {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = () => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expired = "";

  /** @param repeatable whether the request is safe to repeat, so that a lost response does not matter */
  constructor(
    readonly url: string,
    readonly repeatable: boolean,
    caller: AbortSignal | undefined,
  ) {
    this.#caller = caller;
    if (caller?.aborted) {
      throw cancelled(caller.reason);
    }
    caller?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Replaces the deadline. 0 is none. */
  expireIn(ms: number, why: string): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (ms > 0) {
      this.#timer = setTimeout(() => {
        this.#expired = why;
        this.#controller.abort();
      }, ms);
    }
  }

  /** Suspends the deadline. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Releases the timer, the signal of the caller and the connection. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }

  /** Returns the error for a request or a response that failed. */
  failure(error: unknown): IsolaError {
    if (this.#caller?.aborted) {
      return cancelled(this.#caller.reason);
    }
    if (this.#expired) {
      const hint = this.repeatable ? "try again" : "check whether the request was executed, then try again";
      return clientError("DEADLINE_EXCEEDED", `${this.url}: ${this.#expired}`, hint, error);
    }
    const code = networkCode(error);
    if (this.repeatable || NOT_SENT.test(code)) {
      return unreachable(this.url, error);
    }
    return clientError(
      "OUTCOME_UNKNOWN",
      `the connection to ${this.url} was lost before the response: ${code || String(error)}`,
      "check whether the request was executed before you repeat it",
      error,
    );
  }
}

export function unreachable(url: string, error: unknown): IsolaError {
  return clientError(
    SERVER_UNREACHABLE,
    `no server answers at ${url}: ${networkCode(error) || String(error)}`,
    "check the URL, or start a server with isola serve",
    error,
  );
}

/** Waits, and throws as soon as the caller aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(cancelled(signal.reason));
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(cancelled(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
