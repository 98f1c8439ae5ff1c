/* Helpers shared by all parts of the launcher. */
#ifndef ISOLA_COMMON_H
#define ISOLA_COMMON_H

#include <stdbool.h>
#include <sys/types.h>

/* Plans assign descriptors below this number; the launcher's own are at or above it. */
enum { FIRST_PRIVATE_FD = 100 };

/*
 * Makes fail() print its message as the launcher's answer. Used for plans that boot no sandbox, whose output would
 * precede it.
 */
void answer_failures(void);
/* Prints an error, followed by strerror(errno) unless errno is 0, and exits. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Moves a descriptor to FIRST_PRIVATE_FD or above; -1 stays -1. */
int move_fd_up(int fd);
/* Returns false and sets errno on failure. */
bool write_text(const char *path, const char *text);
/* Returns the start time of a process in clock ticks; 0 if there is no such process. */
unsigned long long start_time(pid_t pid);
/* Returns a listening socket that only the launcher's own user can connect to. */
int listen_on(const char *path);

#endif
