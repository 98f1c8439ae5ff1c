export { Isola } from "./isola.js";
export {
  Sandbox,
  type DestroyOptions,
  type ForkOptions,
  type SandboxFilter,
  type StartOptions,
  type TerminalOptions,
} from "./sandbox.js";
export type { CallOptions, ConnectOptions, WebSocketConstructor } from "./options.js";
export type { Command, CommandOptions } from "./command.js";
export type { ExecOptions, ExecResult } from "./exec.js";
export { Execution } from "./execution.js";
export { shellCode, type Channel, type Output, type OutputCallbacks, type OutputData, type OutputGap } from "./output.js";
export { Terminal, type TerminalSize } from "./terminal.js";
export { Files, type InMemoryOptions, type ReadOptions, type WriteOptions } from "./files.js";
export { FileWatch, type ChangeKind, type FileChange } from "./watch.js";
export { packTree, unpackTree, type Tree, type TreeEntry } from "./tar.js";
export type { Progress, UploadContent } from "./upload.js";
export { Ports, Preview, type LinkOptions } from "./ports.js";
export { Egress } from "./egress.js";
export { EventStream, type EventFilter, type LifecycleEvent } from "./events.js";
export { ApiKeys, Secrets, Snapshots, Volumes } from "./resources.js";
export {
  Conflict,
  DeadlineExceeded,
  ERROR_CODES,
  Forbidden,
  Gone,
  Internal,
  InvalidRequest,
  IsolaError,
  LimitExceeded,
  NotFound,
  OutcomeUnknown,
  ProviderUnavailable,
  SERVER_UNREACHABLE,
  Unauthenticated,
  Unsupported,
} from "./errors.js";
export type * as models from "./generated/models.js";
