/*
 * isola-probe: tries one way out of a sandbox and says in one line how it went.
 *
 *   got: ...      exit 0   it got through
 *   refused: ...  exit 1   the attempt failed, with the name of the error
 *   absent: ...   exit 2   there is nothing here to attack
 *
 * Every attempt is harmless where it is allowed: it is run on the bare host first, to show that it can succeed at all.
 * So it opens without writing, asks with arguments that no kernel accepts once the permission has been checked, and
 * changes only what was planted for it.
 */
#ifndef ISOLA_PROBE_H
#define ISOLA_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe {
    const char *name;
    int arguments; /* least number of them */
    void (*run)(int count, char **arguments);
};

/* Tables end with a probe without a name. */
extern const struct probe file_probes[], process_probes[], kernel_probes[], namespace_probes[], device_probes[],
    network_probes[], ipc_probes[], agent_probes[], resource_probes[], state_probes[];

enum { GOT, REFUSED, ABSENT };

/* Each says its line and ends the attempt. `refused` adds the name of `error` unless that is 0. */
_Noreturn void got(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void refused(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void absent(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the attempt as absent where `error` says that the thing does not exist, as refused otherwise. */
_Noreturn void failed(int error, const char *what);

/*
 * Judges a call whose permission the kernel checks before anything else: success, or an error in `open` (a list that
 * ends with 0), means that the permission was there.
 */
_Noreturn void gate(const char *what, long result, const int *open);
#define OPEN_ERRORS(...) ((const int[]){__VA_ARGS__, 0})
#define NO_ERRORS ((const int[]){0})

const char *error_name(int error);

/* What is planted bears this name; an argument is only the id, or a search would find its own command line. */
const char *mark_of(const char *id);
bool holds(const void *bytes, size_t length, const char *mark);

/* Reads at most `room` bytes; -1 with errno. Does not follow what is not a regular file. */
ssize_t read_file(const char *path, void *bytes, size_t room);
bool read_text(const char *path, char *text, size_t room);
uint64_t digest_of(const void *bytes, size_t length);

/* Opens for writing and writes nothing. */
bool opens_for_writing(const char *path);

/* Waits until `fd` can be read, a second at most. */
bool readable(int fd);

/* Calls `each` for the process named by `victim`, or for every other process with `all`, the youngest first. */
void each_process(const char *victim, void (*each)(pid_t pid, void *context), void *context);

/* The process that started the probe: the attempt itself runs in a child. */
extern pid_t starter;

int plant(int count, char **arguments);

#endif
