/*
 * Commits the workspace of a running sandbox as a layer: its current content becomes read-only, and everything the
 * sandbox writes from then on goes to a new folder above it.
 *
 * The plan begins with the steps of a boot that are needed, then:
 *    join PID                          enter the user namespace of the sandbox, for a server that is not root
 *    push PID START TOP PATH COUNTED OLD NEW...
 *                                      mount the stage's workspace at PATH, where mount TOP is now, and read-only at
 *                                      COUNTED; then rename each OLD to NEW. The first two pairs are the old workspace
 *                                      and the new one
 *
 * Prints one line: "done held=NANOSECONDS", "busy WHY" if a process uses the workspace, or "error WHY"; except after
 * "done", nothing has changed. It continues if the client disconnects, so that no sandbox stays stopped. If it is
 * killed, the step `mend` with the same words completes or reverts what it started: it prints "done" if the sandbox has
 * the new workspace, "undone" if it has the old one, or "error WHY".
 */
#ifndef ISOLA_COMMIT_H
#define ISOLA_COMMIT_H

#include "plan.h"

/* The path of the workspace on the stage. */
#define STAGED_WORKSPACE "/workspace"

enum { FIRST_RENAME = 6 }; /* index of the first path to rename; the step's sources are the folders of these paths */

/* Take the steps `push` and `mend`; return the exit code. */
int commit_layer(const struct step *s);
int recover_commit(const struct step *s);

#endif
