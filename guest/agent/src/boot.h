/* Boot record: the configuration the agent reads once from a descriptor before it listens. */
#ifndef ISOLA_BOOT_H
#define ISOLA_BOOT_H

#include "wire.h"

struct boot {
    struct fields fields; /* the whole record; lives as long as the agent */
    uint8_t secret[SECRET_SIZE];
    char *sandbox, *socket, *root, *mount, *cwd, *user, *lock;
    char **environment;
    uint64_t deadline_ms; /* 0 for none */
    bool has_linger;
    uint64_t linger_ms;
    uint64_t namespaces; /* 0 none, 1 if available, 2 required */
};

/* Reads the record. Returns false and sets `problem` to a message when the record is invalid. */
bool boot_read(int fd, struct boot *out, const char **problem);
/* Returns false for the problem of a record of which only a part arrived. */
bool boot_is_invalid(const char *problem);
/* Takes the fields of a record, of which it keeps a copy. */
bool boot_parse(const uint8_t *fields, size_t length, struct boot *out, const char **problem);

#endif
