/*
 * isola-probe: attempts one escape from a sandbox and prints the result on one line.
 *
 *   got: ...      exit 0   the attempt succeeded
 *   refused: ...  exit 1   the attempt failed; includes the name of the error
 *   absent: ...   exit 2   there is no target
 *
 * Every attempt runs on the bare host first, to prove that it can succeed at all, so it must be harmless where it is
 * allowed. It opens files without writing, passes arguments that the kernel rejects once it has checked the
 * permission, and changes only the targets created for it.
 */
#ifndef ISOLA_PROBE_H
#define ISOLA_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe {
    const char *name;
    int arguments; /* minimum number of arguments */
    void (*run)(int count, char **arguments);
};

/* Tables end with a probe without a name. */
extern const struct probe file_probes[], process_probes[], kernel_probes[], namespace_probes[], device_probes[],
    network_probes[], ipc_probes[], agent_probes[], resource_probes[], state_probes[];

enum { GOT, REFUSED, ABSENT };

/* Each prints a result and ends the attempt. `refused` appends the name of `error` unless it is 0. */
_Noreturn void got(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void refused(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void absent(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the attempt as absent if `error` means that the target does not exist, otherwise as refused. */
_Noreturn void failed(int error, const char *what);

/*
 * Evaluates a call whose permission the kernel checks first: success, or an error in `open` (terminated by 0), means
 * that the permission was granted.
 */
_Noreturn void gate(const char *what, long result, const int *open);
#define OPEN_ERRORS(...) ((const int[]){__VA_ARGS__, 0})
#define NO_ERRORS ((const int[]){0})

const char *error_name(int error);

/* The name of every target. Arguments contain only the id, so that a search does not find its own command line. */
const char *mark_of(const char *id);
bool holds(const void *bytes, size_t length, const char *mark);

/* Reads at most `room` bytes of a regular file; returns -1 and sets errno on failure. */
ssize_t read_file(const char *path, void *bytes, size_t room);
bool read_text(const char *path, char *text, size_t room);
uint64_t digest_of(const void *bytes, size_t length);

/* Opens for writing and writes nothing. */
bool opens_for_writing(const char *path);

/* Waits up to one second until `fd` is readable. */
bool readable(int fd);

/* Calls `each` for the process `victim`, or with `all` for every other process, youngest first. */
void each_process(const char *victim, void (*each)(pid_t pid, void *context), void *context);

/* The process that started the probe, because the attempt runs in a child. */
extern pid_t starter;

int hold_targets(int count, char **arguments);

/* A client in a sandbox whose network mode is filtered. */
int egress_client(int count, char **words);

#endif
