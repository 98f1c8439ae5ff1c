import type { Execution } from "./execution.js";
import type { Exit } from "./generated/models.js";
import type { CommandOptions } from "./command.js";
import type { CallOptions } from "./options.js";
import { BoundedOutput, OutputDispatcher, shellCode, type OutputCallbacks } from "./output.js";
import type { UploadContent } from "./upload.js";

const DEFAULT_LIMIT = 1 << 20;
const KILL_MS = 10_000;

/** How to run a command, and what to do with its output meanwhile. */
export interface ExecOptions extends CommandOptions, OutputCallbacks, CallOptions {
  /** content of the standard input */
  stdin?: UploadContent;
  /** bytes to keep of each channel, half from the beginning and half from the end; default 1 MiB */
  outputLimit?: number;
}

/** How a command ended and what it wrote. A nonzero exit code is a result, not an error. */
export interface ExecResult {
  stdout: string;
  stderr: string;
  /** as a shell reports it: 128 plus the number of a signal, 124 after a timeout */
  exitCode: number;
  exit: Exit;
  timedOut: boolean;
  /** whether output was left out */
  truncated: boolean;
  stdoutBytes: number;
  stderrBytes: number;
  /** as this client saw it */
  durationMs: number;
}

/** Follows a command to its end. Kills it if that fails or is aborted. */
export async function complete(execution: Execution, options: ExecOptions): Promise<ExecResult> {
  const started = Date.now();
  const call = { signal: options.signal };
  const limit = options.outputLimit ?? DEFAULT_LIMIT;
  const stdout = new BoundedOutput(limit);
  const stderr = new BoundedOutput(limit);
  let gap = false;
  const collect = async (): Promise<void> => {
    const dispatcher = new OutputDispatcher(options);
    for await (const output of execution.output(call)) {
      dispatcher.accept(output);
      if (output.type === "gap") {
        gap = true;
      } else {
        (output.channel === "stderr" ? stderr : stdout).add(output.bytes);
      }
    }
    dispatcher.end();
  };
  try {
    await Promise.all([collect(), options.stdin === undefined ? undefined : feed(execution, options.stdin, call)]);
  } catch (error) {
    await kill(execution);
    throw error;
  }
  const exit: Exit = execution.exit ?? { kind: "lost", why: "the output ended before the command" };
  return {
    stdout: stdout.text(),
    stderr: stderr.text(),
    exitCode: shellCode(exit),
    exit,
    timedOut: exit.kind === "timedOut",
    truncated: gap || stdout.truncated || stderr.truncated,
    stdoutBytes: stdout.total,
    stderrBytes: stderr.total,
    durationMs: Date.now() - started,
  };
}

/** A command may end without having read its input. */
async function feed(execution: Execution, stdin: UploadContent, call: CallOptions): Promise<void> {
  try {
    await execution.send(stdin, call);
  } catch (error) {
    if ((await execution.info(call)).running) {
      throw error;
    }
  }
}

async function kill(execution: Execution): Promise<void> {
  execution.close();
  try {
    await execution.kill({ signal: AbortSignal.timeout(KILL_MS) });
  } catch {
    // It has ended, or its sandbox cannot be reached; the caller gets the error that came first.
  }
}
