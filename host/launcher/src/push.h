/*
 * Pushes a layer in a sandbox that runs: what its workspace has now is never written again, and all that it writes from
 * now on goes to a folder of its own above it.
 *
 * The plan's steps are those of a boot as far as they are needed, then:
 *   join PID                          the user namespace of a sandbox that has one by itself; for who is not root
 *   push PID START TOP PATH COUNTED OLD NEW...
 *                                     the stage's workspace becomes that of the sandbox at PATH, where TOP is mounted
 *                                     now, and, read only, what is at COUNTED; files are renamed from OLD to NEW, of
 *                                     which the first two pairs are the workspace that was and the one to be
 *
 * Prints one line: "done held=NANOSECONDS", "busy WHY" when somebody uses the workspace, or "error WHY"; unless it was
 * "done" everything is as it was. It goes on when nobody waits for the answer any more: a sandbox is not left
 * stopped. Should it be killed, the step `mend` with the same words brings what it began to an end: it
 * prints "done" when the sandbox has the new workspace, "undone" when it has the one it had, or "error WHY".
 */
#ifndef ISOLA_PUSH_H
#define ISOLA_PUSH_H

#include "plan.h"

/* Where the stage has the workspace. */
#define PUSHED "/workspace"

enum { FIRST_RENAME = 6 }; /* the word; the folders of all that are renamed are the step's sources */

/* Take the steps `push` and `mend`; return the exit code. */
int push(const struct step *s);
int mend(const struct step *s);

#endif
