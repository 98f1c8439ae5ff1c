/*
 * Finds and signals the descendants of a process through /proc. Uses neither heap nor locks, so it is safe in a forked
 * child of a threaded program.
 */
#ifndef ISOLA_PROCESS_TREE_H
#define ISOLA_PROCESS_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Signals every descendant of `root`, but not `root`. Returns how many there were, -1 when /proc is unavailable. */
int tree_signal(pid_t root, int signal_number);

/* Signals the direct children of `root` for which `spare` returns false. Returns how many there were. */
int tree_signal_children(pid_t root, int signal_number, bool (*spare)(pid_t pid));

enum { TREE_EXCLUDED_MAX = 4 };

/* Excludes a process of the agent that belongs to no command from counts and from the killing of strays. */
void tree_exclude(pid_t pid, bool exclude);
bool tree_is_excluded(pid_t pid);

/* Counts the processes in the pid namespace, without the caller and excluded processes; zombies count. */
int tree_count_others(void);
/* Declares that /proc shows kernel threads, as it does in a virtual machine; they do not count. */
void tree_expect_kernel_threads(void);

/* Reads all processes for tree_size. Returns false when /proc is unavailable. */
bool tree_read(void);
/* Descendants of `root`, without `root`, as of the last tree_read. */
struct tree_size {
    int processes, threads;
};
struct tree_size tree_size(pid_t root);

/* Returns true when the kernel reparents orphans to the nearest subreaper, so that they stay in their tree. */
bool tree_keeps_orphans(void);

/*
 * Signals every process started with the variable `mark` (NAME=VALUE) in its environment, in any tree, for kernels that
 * do not reparent orphans to a subreaper. Misses processes started with another environment. Returns how many it found.
 */
int tree_signal_marked(const char *mark, int signal_number);

/* Kills them. Returns true when none is left within `milliseconds`. */
bool tree_kill_marked(const char *mark, int milliseconds);

/*
 * Kills and reaps every descendant of the calling process, which must be a subreaper or PID 1. Stops the tree first, so
 * that it cannot fork during the kill. Returns true when nothing is left within `milliseconds`. Calls `reaped`, which
 * may be NULL, for each child that ended.
 */
bool tree_kill_own(int milliseconds, void (*reaped)(pid_t pid, int status));

#endif
