/*
 * Finds and signals all descendants of a process through /proc. Uses no heap and no locks, so it is safe in a
 * forked child of a threaded program.
 */
#ifndef ISOLA_PROCESS_TREE_H
#define ISOLA_PROCESS_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Signals every descendant of `root`, not `root` itself. Returns how many there were, -1 when /proc is not to be had. */
int tree_signal(pid_t root, int signal_number);

/* Signals the direct children of `root` that are not to be spared. Returns how many there were. */
int tree_signal_children(pid_t root, int signal_number, bool (*spare)(pid_t pid));

enum { TREE_APART_MAX = 4 };

/* Processes of the agent's own that belong to no command: not to be counted nor taken for strays. */
void tree_set_apart(pid_t pid, bool apart);
bool tree_is_apart(pid_t pid);

/* How many processes there are in our pid namespace but ourselves and those set apart; zombies are counted too. */
int tree_count_others(void);

/* Looks at all processes, for tree_size; false when /proc is not to be had. */
bool tree_read(void);
/* What is beneath `root`, itself not included, as tree_read saw it. */
struct tree_size {
    int processes, threads;
};
struct tree_size tree_size(pid_t root);

/* True when the kernel gives orphans to the nearest subreaper above them, so that they stay in their tree. */
bool tree_keeps_orphans(void);

/*
 * Signals every process that was started with the variable `mark` (NAME=VALUE) in its environment, in whichever tree:
 * for kernels that do not keep orphans. One that was started with another environment is not found. Returns how many.
 */
int tree_signal_marked(const char *mark, int signal_number);

/* Kills them; true when none is left within `milliseconds`. */
bool tree_kill_marked(const char *mark, int milliseconds);

/*
 * Kills every descendant of the calling process, which must be a subreaper or PID 1, and reaps them. Stops the
 * tree first, so that it cannot fork away under our hands. Returns true when nothing is left within `milliseconds`.
 * `reaped` is told of each child that ended (may be NULL).
 */
bool tree_kill_own(int milliseconds, void (*reaped)(pid_t pid, int status));

#endif
