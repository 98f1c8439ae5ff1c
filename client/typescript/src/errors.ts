import type { Problem, ProblemCategory } from "./generated/models.js";

/** Code of an error without a response: no connection could be made, and the request was not sent. */
export const SERVER_UNREACHABLE = "SERVER_UNREACHABLE";

/** What is known about a failure. */
export interface Failure {
  code: string;
  category: ProblemCategory;
  /** HTTP status; 0 if there was no response */
  status: number;
  detail: string;
  /** what to do next */
  hint: string;
  sandboxId?: string | undefined;
  /** id of the request in the log of the server; empty if there was no response */
  requestId: string;
  /** seconds to wait before the call is repeated, if the server said so */
  retryAfter?: number | undefined;
  /** the complete answer of the server, if there was one */
  problem?: Partial<Problem> | undefined;
}

/**
 * Base class of all errors of the SDK. The subclass says how to react, `code` says what happened. A nonzero exit code
 * of a command is never an error.
 */
export class IsolaError extends Error {
  readonly code: string;
  readonly category: ProblemCategory;
  readonly status: number;
  readonly hint: string;
  readonly sandboxId: string | undefined;
  readonly requestId: string;
  readonly retryAfter: number | undefined;
  readonly problem: Partial<Problem> | undefined;

  constructor(failure: Failure, cause?: unknown) {
    super(failure.hint ? `${failure.detail}; ${failure.hint}` : failure.detail, cause === undefined ? {} : { cause });
    this.name = new.target.name;
    this.code = failure.code;
    this.category = failure.category;
    this.status = failure.status;
    this.hint = failure.hint;
    this.sandboxId = failure.sandboxId;
    this.requestId = failure.requestId;
    this.retryAfter = failure.retryAfter;
    this.problem = failure.problem;
  }

  /** Whether the same call may be repeated after a pause: it changed nothing, and may succeed unchanged. */
  get isRetryable(): boolean {
    switch (this.code) {
      case SERVER_UNREACHABLE:
      case "PROVIDER_UNAVAILABLE":
      case "RESOURCE_LIMIT":
      case "RATE_LIMITED":
        return true;
      case "SPAWN_FAILED":
        return false;
      default:
        return this.status === 429 || this.status === 503;
    }
  }
}

export class InvalidRequest extends IsolaError {}
export class Unauthenticated extends IsolaError {}
export class Forbidden extends IsolaError {}
export class NotFound extends IsolaError {}
export class Conflict extends IsolaError {}
export class Gone extends IsolaError {}
export class LimitExceeded extends IsolaError {}
export class Unsupported extends IsolaError {}
export class OutcomeUnknown extends IsolaError {}
export class ProviderUnavailable extends IsolaError {}
export class DeadlineExceeded extends IsolaError {}
export class Internal extends IsolaError {}

type ErrorClass = new (failure: Failure, cause?: unknown) => IsolaError;

const CLASSES: ReadonlyArray<[ErrorClass, string]> = [
  [
    InvalidRequest,
    "INVALID_REQUEST INVALID_SPEC PATH_OUTSIDE NOT_A_FILE NOT_A_FOLDER IS_A_FOLDER BAD_ARCHIVE PERMISSION_DENIED" +
      " COMMAND_NOT_FOUND COMMAND_NOT_EXECUTABLE USER_NOT_FOUND INIT_FAILED BUILD_FAILED METHOD_NOT_ALLOWED",
  ],
  [Unauthenticated, "UNAUTHENTICATED"],
  [Forbidden, "FORBIDDEN"],
  [
    NotFound,
    "SANDBOX_NOT_FOUND PROVIDER_NOT_FOUND EXECUTION_NOT_FOUND FILE_NOT_FOUND PORT_NOT_OPEN IMAGE_NOT_FOUND" +
      " SNAPSHOT_NOT_FOUND VOLUME_NOT_FOUND TEMPLATE_NOT_FOUND KEY_NOT_FOUND SECRET_NOT_FOUND ROUTE_NOT_FOUND",
  ],
  [Conflict, "CONFLICT FILE_EXISTS FOLDER_NOT_EMPTY ILLEGAL_STATE UNSAVED_WORK"],
  [Gone, "SANDBOX_DESTROYED SNAPSHOT_DAMAGED"],
  [LimitExceeded, "RESOURCE_LIMIT RATE_LIMITED DISK_FULL"],
  [Unsupported, "NOT_IMPLEMENTED"],
  [OutcomeUnknown, "OUTCOME_UNKNOWN"],
  [ProviderUnavailable, `PROVIDER_UNAVAILABLE SPAWN_FAILED ${SERVER_UNREACHABLE}`],
  [DeadlineExceeded, "EXEC_TIMEOUT DEADLINE_EXCEEDED CANCELLED"],
  [Internal, "EXECUTION_FAILED INTERNAL"],
];

const BY_CODE: ReadonlyMap<string, ErrorClass> = new Map(
  CLASSES.flatMap(([type, codes]) => codes.split(" ").map((code): [string, ErrorClass] => [code, type])),
);

/** The error class of each code of the contract. */
export const ERROR_CODES: Readonly<Record<string, string>> = Object.fromEntries(
  [...BY_CODE].map(([code, type]) => [code, type.name]),
);

function byStatus(status: number): ErrorClass {
  switch (status) {
    case 401:
      return Unauthenticated;
    case 403:
      return Forbidden;
    case 404:
      return NotFound;
    case 409:
      return Conflict;
    case 410:
      return Gone;
    case 429:
    case 507:
      return LimitExceeded;
    case 501:
      return Unsupported;
    case 502:
      return OutcomeUnknown;
    case 503:
      return ProviderUnavailable;
    case 504:
      return DeadlineExceeded;
    default:
      return status >= 400 && status < 500 ? InvalidRequest : Internal;
  }
}

/** Returns the error for a failure. The code decides the class; for a code of a newer server, the status does. */
export function errorOf(failure: Failure, cause?: unknown): IsolaError {
  return new (BY_CODE.get(failure.code) ?? byStatus(failure.status))(failure, cause);
}

function categoryOf(code: string, status: number): ProblemCategory {
  switch (code) {
    case SERVER_UNREACHABLE:
    case "OUTCOME_UNKNOWN":
    case "PROVIDER_UNAVAILABLE":
      return "PROVIDER";
    case "DEADLINE_EXCEEDED":
    case "CANCELLED":
      return "RESOURCE";
    case "INTERNAL":
      return "BUG";
    default:
      return status === 502 || status === 503 ? "PROVIDER" : status >= 500 ? "BUG" : "CALLER";
  }
}

/** Returns an error that the client found, without an answer of the server. */
export function clientError(code: string, detail: string, hint: string, cause?: unknown): IsolaError {
  return errorOf({ code, category: categoryOf(code, 0), status: 0, detail, hint, requestId: "" }, cause);
}

/** Returns the error for an aborted call. */
export function cancelled(reason?: unknown): IsolaError {
  return clientError("CANCELLED", "the call was aborted", "repeat the call if its result is still needed", reason);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * Returns the error for an answer with a status that is not a success.
 *
 * @param body parsed JSON, or undefined if it is none
 */
export function errorOfResponse(url: string, status: number, headers: Headers, body: unknown): IsolaError {
  const seconds = headers.get("Retry-After");
  const retryAfter = seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined;
  const requestId = headers.get("X-Request-Id") ?? "";
  const problem = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const code = text(problem["code"]);
  if (code === undefined) {
    // An answer without a code comes from an intermediary such as a proxy.
    return errorOf({
      code: `HTTP_${status}`,
      category: categoryOf("", status),
      status,
      detail: `${url} answered with status ${status}`,
      hint: "check that the URL belongs to an Isola server",
      requestId,
      retryAfter,
    });
  }
  return errorOf({
    code,
    category: (text(problem["category"]) as ProblemCategory | undefined) ?? categoryOf(code, status),
    status,
    detail: text(problem["detail"]) ?? code,
    hint: text(problem["remedy"]) ?? "",
    sandboxId: text(problem["sandbox"]),
    requestId: text(problem["requestId"]) ?? requestId,
    retryAfter,
    problem: problem as Partial<Problem>,
  });
}

/** Returns the error for an error event within a stream: the sandbox cannot be reached or was destroyed. */
export function errorOfEvent(event: Record<string, unknown>): IsolaError {
  const code = text(event["code"]) ?? "INTERNAL";
  const status = code === "PROVIDER_UNAVAILABLE" || code === "OUTCOME_UNKNOWN" ? 503 : 0;
  return errorOf({
    code,
    category: categoryOf(code, status),
    status,
    detail: text(event["detail"]) ?? code,
    hint: text(event["remedy"]) ?? "",
    requestId: "",
  });
}
