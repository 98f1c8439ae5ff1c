import { clientError } from "./errors.js";
import type { ExecRequest } from "./generated/models.js";

/**
 * A command: a string is a line for `/bin/sh -c`, a list is a program with its arguments, without a shell.
 *
 * An empty list is an error.
 */
export type Command = string | readonly string[];

/** How to run a command. */
export interface CommandOptions {
  /** arguments that the server quotes and appends to a command line: the shell interprets nothing in them */
  args?: readonly string[];
  /** added to the environment of the sandbox */
  env?: Record<string, string>;
  cwd?: string;
  user?: string;
  /** after which the whole process tree is killed */
  timeoutMs?: number;
  /** label chosen by the caller */
  tag?: string;
}

export function commandDocument(command: Command, options: CommandOptions): ExecRequest {
  if (command.length === 0 || (typeof command !== "string" && options.args)) {
    throw clientError(
      "INVALID_REQUEST",
      command.length === 0 ? "the command is empty" : "a list contains all arguments; args belong to a command line",
      "pass a command line, or a list with a program and its arguments",
    );
  }
  const { args, env, cwd, user, timeoutMs, tag } = options;
  return {
    ...(typeof command === "string" ? { command } : { argv: [...command] }),
    ...(args && { args: [...args] }),
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(user !== undefined && { user }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(tag !== undefined && { tag }),
  };
}
