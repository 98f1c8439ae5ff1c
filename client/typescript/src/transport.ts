import { Call, pause } from "./call.js";
import { errorOfResponse, IsolaError, LimitExceeded } from "./errors.js";
import type { Settings } from "./options.js";
import { ResponseBody } from "./response.js";
import { Upload } from "./upload.js";

/** The longest Retry-After for which a call waits. */
const MAX_RETRY_AFTER_S = 10;

export interface ApiRequest {
  /** whether it is safe to repeat; a body must then be a string */
  repeatable?: boolean;
  headers?: Record<string, string>;
  body?: string | Upload;
  /** how often it is sent in total if it is repeatable; default that of the client */
  attempts?: number;
  /** until the head of the response arrives; 0 is none; default that of the client */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Sends requests. Repeats only what is safe to repeat: reads, and requests with an idempotency key. For all others a
 * lost response is an OutcomeUnknown.
 */
export class Transport {
  constructor(readonly settings: Settings) {}

  async get<T>(path: string, request: ApiRequest = {}): Promise<T> {
    return (await (await this.open("GET", path, { repeatable: true, ...request })).json()) as T;
  }

  /** Sends a JSON body and reads a JSON response. */
  async send<T>(method: string, path: string, body: unknown, request: ApiRequest = {}): Promise<T> {
    const headers = { "Content-Type": "application/json", ...request.headers };
    const json = { ...request, headers, body: JSON.stringify(body) };
    return (await (await this.open(method, path, json)).json()) as T;
  }

  async post<T>(path: string, body: unknown, request: ApiRequest = {}): Promise<T> {
    return this.send("POST", path, body, request);
  }

  async delete(path: string, request: ApiRequest = {}): Promise<void> {
    await (await this.open("DELETE", path, request)).json();
  }

  /** Sends a body that may be large. It has no total timeout, but fails when it makes no progress. */
  async upload<T>(method: string, path: string, body: Upload, request: ApiRequest = {}): Promise<T> {
    return (await (await this.open(method, path, { ...request, body })).json()) as T;
  }

  /** Sends a request and returns the body of its response. The caller reads it to the end or cancels it. */
  async open(method: string, path: string, request: ApiRequest): Promise<ResponseBody> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#sendOnce(method, path, request);
      } catch (error) {
        const delay = retryDelay(error, attempt);
        if (!request.repeatable || attempt >= (request.attempts ?? this.settings.attempts) || delay === undefined) {
          throw error;
        }
        await pause(delay, request.signal);
      }
    }
  }

  async #sendOnce(method: string, path: string, request: ApiRequest): Promise<ResponseBody> {
    const { url, key } = this.settings;
    const call = new Call(url, request.repeatable ?? false, request.signal);
    const headers: Record<string, string> = { Authorization: `Bearer ${key}`, ...request.headers };
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers,
      signal: call.signal,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
    };
    const arm = () => call.expireIn(request.timeoutMs ?? this.settings.timeoutMs, "the server did not respond in time");
    let response: Response;
    try {
      if (request.body instanceof Upload) {
        headers["Content-Type"] = request.body.type;
        init.body = await request.body.start(arm);
        init.duplex = "half";
      } else if (request.body !== undefined) {
        init.body = request.body;
      }
      arm();
      response = await this.settings.fetch(url + path, init);
    } catch (error) {
      const local = request.body instanceof Upload ? request.body.failure : undefined;
      const failure = local ?? call.failure(error);
      call.end();
      throw failure;
    }
    const body = new ResponseBody(response.headers, response.body, call);
    if (response.ok) {
      return body;
    }
    throw errorOfResponse(url, response.status, response.headers, await problem(body));
  }
}

/** Reads a problem document; a response that is none comes from an intermediary. */
async function problem(body: ResponseBody): Promise<unknown> {
  try {
    const bytes = await body.bytes(1 << 20, () => new RangeError("too long"));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}

/** Returns whether a short pause may help. Reaching a limit usually lasts longer. */
export function isTransient(error: unknown): error is IsolaError {
  return error instanceof IsolaError && error.isRetryable && !(error instanceof LimitExceeded);
}

/** Returns the pause before another attempt in milliseconds, or undefined if there is to be none. */
function retryDelay(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof IsolaError)) {
    return undefined;
  }
  const { retryAfter } = error;
  if (retryAfter !== undefined && error.isRetryable) {
    return retryAfter <= MAX_RETRY_AFTER_S ? retryAfter * 1000 : undefined;
  }
  return isTransient(error) ? 100 * attempt * attempt : undefined;
}
