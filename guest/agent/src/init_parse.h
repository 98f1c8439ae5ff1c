/* Parses what the init of a virtual machine is given: the kernel's command line and fields of the boot record. */
#ifndef ISOLA_INIT_PARSE_H
#define ISOLA_INIT_PARSE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum channel_kind { CHANNEL_PORT, CHANNEL_VSOCK };

struct init_channel {
    enum channel_kind kind;
    char name[64]; /* of the port, or the address to dial */
};

/* Finds `isola.channel=port:NAME` or `isola.channel=vsock:PORT` on the command line. */
bool init_parse_channel(const char *command_line, struct init_channel *out);
/* Finds `isola.root=early:FOLDER` on the command line, with an absolute path. */
bool init_parse_early_root(const char *command_line, char *folder, size_t capacity);

struct init_network {
    struct in_addr address, mask, gateway;
};

/* Parses `ADDRESS/PREFIX GATEWAY`. */
bool init_parse_network(const char *text, struct init_network *out);

/* Parses `PATH SIZE`; the path may contain blanks. Cuts `text` after the path. */
bool init_parse_tmpfs(char *text, uint64_t *size);

/* Orders names of kernel modules, for qsort: by bytes. */
int init_compare_names(const void *a, const void *b);
/* Returns true for a file that is loaded as a module. */
bool init_is_module(const char *name);

#endif
