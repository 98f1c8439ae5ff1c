/* The boot record: what the agent is told once, over a descriptor, before it listens. */
#ifndef ISOLA_BOOT_H
#define ISOLA_BOOT_H

#include "wire.h"

struct boot {
    struct fields fields; /* all of it; lives as long as the agent */
    uint8_t secret[SECRET_SIZE];
    char *sandbox, *socket, *root, *mount, *cwd, *user, *lock;
    char **environment;
    uint64_t deadline_ms; /* 0 for none */
    bool has_linger;
    uint64_t linger_ms;
    uint64_t namespaces; /* 0 none, 1 if they can be had, 2 required */
};

/* Reads the record; a sentence in `problem` when it is no good. */
bool boot_read(int fd, struct boot *out, const char **problem);

#endif
